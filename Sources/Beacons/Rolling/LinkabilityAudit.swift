/// Finds what links two terms of a rolling identifier to each other.
///
/// It reads packets that another adapter has received.
/// A receiver that notices such a link can follow the user past a change of the identifier, or from one circle to another. The
/// rules are those of the circles dossier, chapter 2. A value without a clock; it remembers at most ``capacity`` terms and
/// addresses.
public struct LinkabilityAudit: Sendable {
    /// What links two terms.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        case addressInTwoTerms = "L1"
        case identifierUnderTwoAddresses = "L2"
        case lastingAddress = "L3"
        case constantBit = "L4"
        case extraStructure = "L5"
        case otherForm = "L6"
        case outsideTerm = "L7"
        case noSilence = "L8"
        case addressOfTwoScopes = "L9"
    }

    /// One link.
    public struct Finding: Sendable, Hashable {
        public let rule: Rule
        /// What was found, for people, without a full stop.
        public let text: String
    }

    /// The outcome.
    public enum Verdict: String, Sendable, Hashable {
        case clean, linked
        /// Fewer than three terms were heard of a scope that is sent or was heard.
        case tooShort = "too_short"
    }

    /// One of the user's own scopes: a circle, or pairing.
    public struct Scope: Sendable {
        /// The seed that its identifiers derive from.
        public let seed: RollingSeed
        /// Whether it is sent now. A scope that is not sent need not be heard.
        public let isSent: Bool

        /// Creates a scope.
        public init(_ seed: RollingSeed, isSent: Bool) {
            self.seed = seed
            self.isSent = isSent
        }
    }

    /// How many terms and addresses are remembered.
    public static let capacity = 1_024
    /// How many terms of a scope an audit needs.
    public static let minimumTerms = 3
    /// How many terms show that a bit is constant.
    private static let conclusiveTerms = 8
    /// The shortest silence between two terms.
    private static let shortestSilence = Duration.milliseconds(400)
    /// How far off the clocks of sender and receiver may be: it is one machine, or two beside each other.
    private static let tolerance = Duration.seconds(5)

    private let scopes: [Scope]
    private let parser = FrameParser()
    private var expected: [RollingUUID: Identifier] = [:]
    private var expectedShort: [ShortRollingToken: Identifier] = [:]
    private var center: RollingWindow?
    private var terms: [Identifier: Term] = [:]
    private var findings: [Rule: Finding] = [:]
    /// The addresses under which an identifier was heard, and which one first.
    private var addresses: [DeviceAddress: Identifier] = [:]
    /// What packets without an identifier of the user's would link, by the address under which they came.
    private var others: [DeviceAddress: [Rule: String]] = [:]

    /// One of the user's identifiers: a scope's in a window.
    private struct Identifier: Sendable, Hashable {
        let scope: Int
        let window: RollingWindow
    }

    /// What was heard of a term.
    private struct Term: Sendable {
        var first: Timestamp
        var last: Timestamp
        var addresses: Set<DeviceAddress> = []
        var forms: Set<Form> = []
        /// The bits that were 1, and those that were 0, in every packet of the term; the identifier's own bits are neither.
        var ones: [UInt8] = []
        var zeros: [UInt8] = []
    }

    private enum Form: Sendable, Hashable {
        case service, eddystone, iBeacon
    }

    /// Creates an audit of the user's own identifiers.
    ///
    /// - Parameter scopes: the user's scopes, those that are not sent now too.
    public init(of scopes: [Scope]) {
        self.scopes = scopes
    }

    /// How many terms of each scope were heard, in the order of the scopes.
    public var termCounts: [Int] {
        let heard = Dictionary(grouping: terms.keys, by: \.scope)
        return scopes.indices.map { heard[$0]?.count ?? 0 }
    }

    /// Adds a packet. Those of other senders are ignored.
    public mutating func receive(_ advertisement: Advertisement) {
        guard let time = try? RollingWindow(at: advertisement.time) else { return }
        prepare(for: time)
        guard let (identifier, form) = identifier(in: advertisement.data) else { return noteOther(advertisement) }
        guard terms[identifier] != nil || terms.count < Self.capacity else { return }
        let window = identifier.window
        var term = terms[identifier] ?? Term(first: advertisement.time, last: advertisement.time)
        term.first = min(term.first, advertisement.time)
        term.last = max(term.last, advertisement.time)
        term.forms.insert(form)
        note(advertisement.data, in: &term, form)
        if term.forms.count > 1 {
            add(.otherForm, "window \(window.number) is sent in two forms at the same time")
        }
        if let address = advertisement.address { note(address, advertisement.addressKind, in: &term, identifier) }
        checkTerm(identifier, form, at: advertisement.time)
        terms[identifier] = term
    }

    /// What was found, in the order of the rules.
    public func report() -> (verdict: Verdict, findings: [Finding]) {
        var findings = findings
        checkSilence(&findings)
        checkConstantBits(&findings)
        let ordered = Rule.allCases.compactMap { findings[$0] }
        if !ordered.isEmpty { return (.linked, ordered) }
        // A scope of which two terms were heard may have a link to the third one.
        let needed = zip(scopes, termCounts).filter { $0.isSent || $1 > 0 }.map(\.1)
        return (needed.min() ?? 0 < Self.minimumTerms ? .tooShort : .clean, [])
    }

    private mutating func add(_ rule: Rule, _ text: String) {
        if findings[rule] == nil { findings[rule] = Finding(rule: rule, text: text) }
    }

    /// Derives the identifiers of the windows around a time: two hours, so that a copy sent later is noticed.
    private mutating func prepare(for window: RollingWindow) {
        guard center != window else { return }
        center = window
        expected = [:]
        expectedShort = [:]
        for distance in -8...8 {
            let number = Int64(window.number) + Int64(distance)
            guard let number = UInt32(exactly: number) else { continue }
            let near = RollingWindow(number: number)
            for (index, scope) in scopes.enumerated() {
                let (token, identifier) = (scope.seed.token(in: near), Identifier(scope: index, window: near))
                expected[RollingUUID(token)] = identifier
                if let short = token.short { expectedShort[short] = identifier }
            }
        }
    }

    /// The user's identifier in a packet, in any form.
    private func identifier(in data: AdvertisingData) -> (Identifier, Form)? {
        for uuid in parser.rollingServices(in: data) {
            if let identifier = expected[uuid] { return (identifier, .service) }
        }
        switch parser.frame(in: data) {
        case .eddystone(.uid(let uid, _)):
            return expected[RollingUUID(RollingToken(uid))].map { ($0, .eddystone) }
        case .iBeacon(let beacon):
            let short = ShortRollingToken(major: beacon.major, minor: beacon.minor)
            return short.flatMap { expectedShort[$0] }.map { ($0, .iBeacon) }
        default: return nil
        }
    }

    private mutating func note(
        _ address: DeviceAddress, _ kind: DeviceAddress.Kind?, in term: inout Term, _ identifier: Identifier
    ) {
        let window = identifier.window
        // Of 48 bits the first two say what a random address is: 11 stays until the next start, 10 no random address has.
        let top = address.number >> 46
        if kind == .public || kind == nil && top == 0b10 {
            add(.lastingAddress, "the address \(address) is the device's own and never changes")
        } else if top == 0b11 {
            add(.lastingAddress, "the address \(address) stays the same until the device starts again")
        }
        if let earlier = addresses[address], earlier.scope != identifier.scope {
            add(
                .addressOfTwoScopes,
                "the address \(address) was heard with identifiers of two circles, or of a circle and of pairing")
        } else if let earlier = addresses[address]?.window, earlier != window {
            add(
                .addressInTwoTerms,
                "the address \(address) was heard in the windows \(min(earlier, window).number) and \(max(earlier, window).number)"
            )
        } else if addresses.count < Self.capacity {
            addresses[address] = identifier
        }
        for (rule, text) in others.removeValue(forKey: address) ?? [:] { add(rule, text) }
        // Two are enough to know.
        if term.addresses.count < 2 { term.addresses.insert(address) }
        if term.addresses.count > 1 {
            add(.identifierUnderTwoAddresses, "window \(window.number) was heard under two addresses")
        }
    }

    /// Notes a packet without an identifier of the user's: under an address that has one, a name or a constant number links the terms.
    private mutating func noteOther(_ advertisement: Advertisement) {
        guard let address = advertisement.address, let (rule, text) = link(in: advertisement.data) else { return }
        guard addresses[address] == nil else { return add(rule, text) }
        // An identifier is sent all the time: one that belongs to the address is heard soon.
        if others[address] == nil, others.count >= Self.capacity { others = [:] }
        others[address, default: [:]][rule] = text
    }

    /// What a packet without an identifier has that links; nil for one without anything.
    private func link(in data: AdvertisingData) -> (Rule, String)? {
        switch parser.frame(in: data) {
        case .iBeacon, .altBeacon, .eddystone:
            return (.otherForm, "under the address of an identifier a beacon of another form is sent too")
        default:
            guard let structure = data.structures.first(where: { $0.type != .flags }) else { return nil }
            return (.extraStructure, "under an identifier's address \(name(of: structure)) is sent in another packet")
        }
    }

    private func name(of structure: AdvertisingStructure) -> String {
        structure.type == .completeName ? "a name" : "a structure of type \(structure.type.rawValue)"
    }

    private mutating func checkTerm(_ identifier: Identifier, _ form: Form, at time: Timestamp) {
        let (seed, window) = (scopes[identifier.scope].seed, identifier.window)
        let begin: Timestamp
        let end: Timestamp
        if form == .service {
            (begin, end) = (seed.change(to: window), seed.change(to: window.next))
        } else {
            begin = window.start.advanced(by: .zero - RollingBroadcast.jitter)
            end = window.next.start.advanced(by: RollingBroadcast.jitter)
        }
        let isInside = begin.advanced(by: .zero - Self.tolerance) <= time && time <= end.advanced(by: Self.tolerance)
        guard !isInside else { return }
        add(
            .outsideTerm,
            "window \(window.number) was heard outside its term: another device repeats it, or a clock is wrong")
    }

    /// Adds a packet's bytes. Everything beside the identifier and the flags is an extra structure.
    private mutating func note(_ data: AdvertisingData, in term: inout Term, _ form: Form) {
        var rest: [UInt8] = []
        for structure in data.structures {
            switch (structure.type, form) {
            case (.flags, _): break
            case (.completeServices128, .service) where structure.value.count == 16: break
            case (.incompleteServices128, .service) where structure.value.count == 16: break
            case (.completeServices, .eddystone), (.serviceData, .eddystone), (.manufacturerData, .iBeacon):
                rest += constantPart(of: structure)
            default:
                add(.extraStructure, "beside the identifier \(name(of: structure)) is sent")
                rest += structure.bytes
            }
        }
        if term.ones.isEmpty, term.zeros.isEmpty {
            term.ones = rest
            term.zeros = rest.map { ~$0 }
        } else {
            for index in term.ones.indices {
                let byte = index < rest.count ? rest[index] : 0
                term.ones[index] &= byte
                term.zeros[index] &= index < rest.count ? ~byte : 0
            }
        }
    }

    /// The bytes of an old form that do not belong to the identifier.
    private func constantPart(of structure: AdvertisingStructure) -> [UInt8] {
        switch structure.type {
        case .manufacturerData: Array(structure.value.prefix(20))
        case .serviceData: Array(structure.value.prefix(4))
        default: structure.value
        }
    }

    private func checkSilence(_ findings: inout [Rule: Finding]) {
        let ordered = terms.sorted { ($0.key.scope, $0.key.window) < ($1.key.scope, $1.key.window) }
        for (earlier, later) in zip(ordered, ordered.dropFirst())
        where earlier.key.scope == later.key.scope && earlier.key.window.next == later.key.window {
            let silence = earlier.value.last.duration(to: later.value.first)
            guard silence < Self.shortestSilence, findings[.noSilence] == nil else { continue }
            findings[.noSilence] = Finding(
                rule: .noSilence,
                text:
                    "window \(later.key.window.number) began less than 0.4 s after the last packet of the window before"
            )
        }
    }

    private func checkConstantBits(_ findings: inout [Rule: Finding]) {
        guard terms.count >= Self.conclusiveTerms, let first = terms.values.first else { return }
        let length = terms.values.map(\.ones.count).min() ?? 0
        let isConstant = (0..<length).contains { index in
            let ones = terms.values.reduce(first.ones[index]) { $0 & $1.ones[index] }
            let zeros = terms.values.reduce(first.zeros[index]) { $0 & $1.zeros[index] }
            return ones | zeros != 0
        }
        guard isConstant else { return }
        findings[.constantBit] = Finding(
            rule: .constantBit, text: "bits beside the identifier were the same in all \(terms.count) windows")
    }
}
