/// The members of a JSON object (RFC 8259, section 8.3). They are found by the bytes of their names.
///
/// A dictionary of Swift strings compares by canonical equivalence, which takes quadratic time for a name made of
/// combining marks. Here two spellings that Unicode calls equivalent are two names, and every lookup is linear.
public struct JSONObject: Sendable {
    /// All members, as long as they are few: then a search takes less time than a hash.
    private var few: [Member] = []
    /// A bit for each of their marks, as a Bloom filter: a name whose bit is missing is not searched for.
    private var marks: UInt64 = 0
    /// All members, when they are many.
    private var many: [Name: JSONValue] = [:]

    private static let maximumFew = 32

    fileprivate struct Member: Sendable {
        let name: String
        /// The name's length and first bytes.
        let mark: UInt64
        var value: JSONValue
    }

    /// The longest name that is read, in bytes.
    public static let maximumNameLength = 1024

    /// An object without members.
    public init() {}

    /// An object of these members; of two with one name the last one counts.
    public init(_ members: some Sequence<(key: String, value: JSONValue)>) {
        for (name, value) in members { self[name] = value }
    }

    /// The value of a member; nil when there is no member of this name. Assigning nil removes the member.
    public subscript(name: String) -> JSONValue? {
        get {
            guard many.isEmpty else { return many[Name(name)] }
            return index(of: name).map { few[$0].value }
        }
        set {
            if !many.isEmpty {
                many[Name(name)] = newValue
            } else if let index = index(of: name) {
                if let newValue { few[index].value = newValue } else { few.remove(at: index) }
            } else if let newValue {
                append(newValue, for: name, name.mark)
            }
        }
    }

    /// Where a member is among the few.
    private func index(of name: String) -> Int? { index(of: name, name.mark) }

    private func index(of name: String, _ mark: UInt64) -> Int? {
        guard marks & mark.markBit != 0 else { return nil }
        for index in few.indices where few[index].mark == mark {
            if name.isWhollyMarked || few[index].name.isIdentical(to: name) { return index }
        }
        return nil
    }

    /// Adds a member whose name is new.
    private mutating func append(_ value: consuming JSONValue, for name: consuming String, _ mark: UInt64) {
        if few.isEmpty { few.reserveCapacity(16) }
        marks |= mark.markBit
        few.append(Member(name: name, mark: mark, value: value))
        guard few.count > Self.maximumFew else { return }
        for member in few { many[Name(member.name)] = member.value }
        few = []
    }

    /// The number of members.
    public var count: Int { few.count + many.count }

    /// Whether there are no members.
    public var isEmpty: Bool { few.isEmpty && many.isEmpty }

    /// The names in the order of their bytes.
    public var keys: [String] { sorted().map(\.key) }

    /// The members in the order of their names' bytes.
    public func sorted() -> [Element] {
        map(\.self).sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// The members that satisfy a condition.
    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> JSONObject {
        var object = JSONObject()
        object.few = try few.filter { try isIncluded(($0.name, $0.value)) }
        object.marks = marks
        for (name, value) in many where try isIncluded((name.text, value)) { object[name.text] = value }
        return object
    }

    /// Adds a member; false when there is one of this name already.
    mutating func insert(_ value: consuming JSONValue, for name: consuming String) -> Bool {
        if !many.isEmpty { return many.updateValue(value, forKey: Name(name)) == nil }
        let mark = name.mark
        guard index(of: name, mark) == nil else { return false }
        append(value, for: name, mark)
        return true
    }
}

extension JSONObject: Hashable {
    /// Whether both have the same members, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        // The order does not count.
        var sum = 0
        for (name, value) in self {
            var one = Hasher()
            one.combine(Name(name))
            one.combine(value)
            sum ^= one.finalize()
        }
        hasher.combine(sum)
    }
}

extension JSONObject: Sequence {
    /// The members, in no particular order.
    public struct Iterator: IteratorProtocol {
        fileprivate var few: Array<Member>.Iterator
        fileprivate var many: Dictionary<Name, JSONValue>.Iterator

        public mutating func next() -> (key: String, value: JSONValue)? {
            few.next().map { ($0.name, $0.value) } ?? many.next().map { ($0.key.text, $0.value) }
        }
    }

    /// Iterates over the members, names and values, in no particular order.
    public func makeIterator() -> Iterator {
        Iterator(few: few.makeIterator(), many: many.makeIterator())
    }

    public var underestimatedCount: Int { count }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object of these members; of two with one name the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.map { (key: $0.0, value: $0.1) })
    }
}

/// A member's name, compared and hashed by its bytes.
private struct Name: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: Name, right: Name) -> Bool {
        left.text.isIdentical(to: right.text)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// The length, up to 255, and the first seven bytes: texts whose marks differ are not identical.
    var mark: UInt64 {
        utf8.withContiguousStorageIfAvailable { $0.span.mark } ?? Array(utf8).withUnsafeBufferPointer { $0.span.mark }
    }

    /// Whether no other text has the same mark.
    var isWhollyMarked: Bool { utf8.count <= 7 }

    /// Whether both texts have the same bytes. `==` also takes canonically equivalent texts, and quadratic time.
    @inline(__always)
    package func isIdentical(to other: String) -> Bool {
        utf8.count == other.utf8.count && hasBytes(of: other)
    }

    private func hasBytes(of other: String) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.span.hasBytes(of: other) } ?? utf8.elementsEqual(other.utf8)
    }

    /// The most combining marks in a row that ``streamSafe`` leaves as they are.
    static let maximumMarks = 30

    /// The text in Stream-Safe Text Format: behind 30 combining marks in a row stands U+034F (Unicode Standard Annex
    /// #15, section 13).
    ///
    /// Comparing, hashing and normalizing such a text takes linear time; a longer run of marks makes it quadratic.
    package var streamSafe: String {
        guard utf8.mayHoldManyMarks else { return self }
        var output = ""
        var start = unicodeScalars.startIndex
        var run = 0
        for index in unicodeScalars.indices {
            let scalar = unicodeScalars[index]
            run = scalar.isCombiningMark ? run + 1 : 0
            guard run > Self.maximumMarks else { continue }
            output += Substring(unicodeScalars[start..<index])
            output.unicodeScalars.append("\u{34F}")
            start = index
            run = 1
        }
        return start == unicodeScalars.startIndex ? self : output + Substring(unicodeScalars[start...])
    }
}

extension UInt64 {
    /// One of 64 bits, by all bytes of a mark.
    var markBit: UInt64 { 1 << ((self &* 0x9E37_79B9_7F4A_7C15) >> 58) }
}

extension Span<UInt8> {
    /// The mark of a text of these bytes.
    var mark: UInt64 {
        var mark = UInt64(Swift.min(count, 255)) << 56
        guard count < 8 else { return mark | eight(at: 0) & 0x00FF_FFFF_FFFF_FFFF }
        for index in 0..<count { mark |= UInt64(self[index]) << (8 * UInt64(index)) }
        return mark
    }

    /// Whether these are the bytes of a text.
    func hasBytes(of text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { hasBytes(of: $0.span) }
            ?? Array(text.utf8).withUnsafeBufferPointer { hasBytes(of: $0.span) }
    }

    /// Whether both have the same bytes.
    func hasBytes(of other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while index + 8 <= count {
            guard eight(at: index) == other.eight(at: index) else { return false }
            index += 8
        }
        while index < count {
            guard self[index] == other[index] else { return false }
            index += 1
        }
        return true
    }
}

extension Sequence<UInt8> {
    /// Whether there are as many bytes outside ASCII in a row as 31 combining marks need, which have two or more each.
    package var mayHoldManyMarks: Bool {
        var run = 0
        for byte in self {
            run = byte < 0x80 ? 0 : run + 1
            if run > 2 * String.maximumMarks { return true }
        }
        return false
    }
}

extension Unicode.Scalar {
    /// Whether normalization may move it among other marks.
    var isCombiningMark: Bool { value >= 0x300 && properties.canonicalCombiningClass != .notReordered }
}
