/// A binary heap with the least bound on top; equal bounds by kind and place, so that the order is always the same.
struct NearestQueue {
    struct Entry {
        let bound: Double
        /// The kind, then the place, so that one comparison orders both.
        private let code: UInt64

        enum Kind {
            case node(level: Int)
            /// A region whose distance is not computed yet.
            case item
            /// A region whose distance is the bound.
            case exact(isInside: Bool)
        }

        init(bound: Double, _ kind: Kind, index: Int) {
            self.bound = bound
            let rank: UInt64 =
                switch kind {
                case .node(let level): UInt64(63 - level)
                case .item: 64
                case .exact: 65
                }
            let flag: UInt64 = if case .exact(isInside: true) = kind { 1 } else { 0 }
            code = rank << 56 | UInt64(index) << 1 | flag
        }

        var index: Int { Int(code >> 1 & 0x7F_FFFF_FFFF_FFFF) }

        var kind: Kind {
            switch code >> 56 {
            case 64: .item
            case 65: .exact(isInside: code & 1 == 1)
            case let rank: .node(level: Int(63 - rank))
            }
        }

        static func < (left: Entry, right: Entry) -> Bool {
            left.bound != right.bound ? left.bound < right.bound : left.code < right.code
        }
    }

    private var entries: ContiguousArray<Entry> = []

    mutating func push(_ entry: Entry) {
        var place = entries.count
        entries.append(entry)
        while place > 0, entry < entries[(place - 1) / 2] {
            entries[place] = entries[(place - 1) / 2]
            place = (place - 1) / 2
        }
        entries[place] = entry
    }

    mutating func pop() -> Entry? {
        guard let top = entries.first, let last = entries.popLast() else { return nil }
        guard !entries.isEmpty else { return top }
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1] < entries[child] { child += 1 }
            guard entries[child] < last else { break }
            entries[place] = entries[child]
            place = child
        }
        entries[place] = last
        return top
    }
}

/// How far the regions that are looked for can be: what is farther is not even remembered.
struct NearestReach {
    /// The least upper bounds so far, in order.
    private var bounds: ContiguousArray<Double> = []
    private let count: Int
    private(set) var limit = Double.infinity

    /// - Parameter count: how many regions are looked for; of more than a few the order of bounds would cost more than it saves.
    init(_ count: Int) {
        self.count = count <= 64 ? count : 0
        bounds.reserveCapacity(self.count)
    }

    /// One more region whose edge is not farther.
    mutating func narrow(to bound: Double) {
        guard count > 0, bound < limit else { return }
        if bounds.count == count { bounds.removeLast() }
        let place = bounds.firstIndex { $0 > bound } ?? bounds.count
        bounds.insert(bound, at: place)
        if bounds.count == count, let last = bounds.last { limit = last }
    }
}
