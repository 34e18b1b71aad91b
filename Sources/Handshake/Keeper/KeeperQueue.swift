/// Accounts by the time they are due: the earliest is first. A binary heap.
struct KeeperQueue: Sendable {
    struct Item: Sendable {
        let due: Double
        let account: KeptName
        /// How often in a row the account failed for a reason of its own.
        var failures: UInt8 = 0
        /// Whether a refresh that no process has finished is repeated. The account may have another place in the queue.
        var isRepeat = false
    }

    private var items: [Item] = []

    var first: Item? { items.first }
    var count: Int { items.count }

    mutating func push(_ item: Item) {
        items.append(item)
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child].due < items[parent].due else { break }
            items.swapAt(child, parent)
            child = parent
        }
    }

    mutating func pop() -> Item? {
        guard let last = items.popLast() else { return nil }
        guard let first = items.first else { return last }
        items[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < items.count && items[child].due < items[least].due { least = child }
            guard least != parent else { return first }
            items.swapAt(parent, least)
            parent = least
        }
    }
}

/// An account's name among those of one service. It is small: there may be a million.
struct KeptName: Sendable, Hashable {
    /// The number of the client and its resources.
    let group: UInt32
    let name: String

    // By bytes: comparing names as strings takes quadratic time on hostile ones.
    static func == (left: KeptName, right: KeptName) -> Bool {
        left.group == right.group && left.name.utf8.elementsEqual(right.name.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(group)
        for byte in name.utf8 { hasher.combine(byte) }
        hasher.combine(name.utf8.count)
    }
}
