/// Finds, among any number of regions, those around a position and those with the nearest edges.
///
/// Building takes n log n, a search about log n; both work across the antimeridian and at the poles.
public struct GeofenceIndex: Sendable {
    /// The regions in the order given.
    public let geofences: [Geofence]

    private let items: ContiguousArray<Item>
    /// Level by level from the leaves; each node bounds 8 of the level below.
    private let nodes: ContiguousArray<Node>
    private let levels: [Range<Int>]

    private static let fanOut = 8

    private struct Item: Sendable {
        var center: Vector
        var radius: Double
        var edgeFreeRadius: Double
        var geofence: Int
    }

    private struct Node: Sendable {
        var low: Vector
        var high: Vector
        var radius: Double
        var edgeFreeRadius: Double

        /// The squares of the least and the greatest distance of any center from a point.
        func distances(to point: Vector) -> (least: Double, greatest: Double) {
            let below = low - point
            let above = point - high
            let least = Vector(x: max(below.x, above.x, 0), y: max(below.y, above.y, 0), z: max(below.z, above.z, 0))
            let greatest = Vector(
                x: max(below.x.magnitude, above.x.magnitude), y: max(below.y.magnitude, above.y.magnitude),
                z: max(below.z.magnitude, above.z.magnitude))
            return (least.lengthSquared, greatest.lengthSquared)
        }

        mutating func include(_ low: Vector, _ high: Vector, _ radius: Double, _ edgeFreeRadius: Double) {
            self.low = Vector(x: min(self.low.x, low.x), y: min(self.low.y, low.y), z: min(self.low.z, low.z))
            self.high = Vector(x: max(self.high.x, high.x), y: max(self.high.y, high.y), z: max(self.high.z, high.z))
            self.radius = max(self.radius, radius)
            self.edgeFreeRadius = min(self.edgeFreeRadius, edgeFreeRadius)
        }
    }

    /// Indexes regions; `geofences` may hold an identifier more than once.
    public init(_ geofences: [Geofence]) {
        self.geofences = geofences
        var keys = ContiguousArray<(key: UInt64, item: Item)>()
        keys.reserveCapacity(geofences.count)
        for (index, geofence) in geofences.enumerated() {
            let ball = geofence.ball
            let item = Item(
                center: ball.center, radius: ball.radius, edgeFreeRadius: ball.edgeFreeRadius, geofence: index)
            keys.append((Self.curvePosition(ball.center), item))
        }
        keys.sort { $0.key < $1.key }
        items = ContiguousArray(keys.map(\.item))
        (nodes, levels) = Self.build(items)
    }

    /// The place on a space-filling curve (Morton order), so that neighbours in the list are neighbours on Earth.
    private static func curvePosition(_ point: Vector) -> UInt64 {
        func spread(_ metres: Double) -> UInt64 {
            var bits = UInt64(min(max((metres + 6_400_000) / 12_800_000, 0), 1) * 2_097_151)
            bits = (bits | bits << 32) & 0x1F_0000_0000_FFFF
            bits = (bits | bits << 16) & 0x1F_0000_FF00_00FF
            bits = (bits | bits << 8) & 0x100F_00F0_0F00_F00F
            bits = (bits | bits << 4) & 0x10C3_0C30_C30C_30C3
            return (bits | bits << 2) & 0x1249_2492_4924_9249
        }
        return spread(point.x) | spread(point.y) << 1 | spread(point.z) << 2
    }

    private static func build(_ items: ContiguousArray<Item>) -> (ContiguousArray<Node>, [Range<Int>]) {
        var nodes: ContiguousArray<Node> = []
        var levels: [Range<Int>] = []
        nodes.reserveCapacity(items.count / (fanOut - 1) + 8)
        for first in stride(from: 0, to: items.count, by: fanOut) {
            var node = Node(
                low: items[first].center, high: items[first].center, radius: 0, edgeFreeRadius: .infinity)
            for item in items[first..<min(first + fanOut, items.count)] {
                node.include(item.center, item.center, item.radius, item.edgeFreeRadius)
            }
            nodes.append(node)
        }
        levels.append(0..<nodes.count)
        while let below = levels.last, below.count > 1 {
            for first in stride(from: below.lowerBound, to: below.upperBound, by: fanOut) {
                var node = nodes[first]
                for child in nodes[first..<min(first + fanOut, below.upperBound)] {
                    node.include(child.low, child.high, child.radius, child.edgeFreeRadius)
                }
                nodes.append(node)
            }
            levels.append(below.upperBound..<nodes.count)
        }
        return (nodes, levels)
    }

    /// Calls `body` with the place of each region that may hold the position; all that do are among them.
    func forEachCandidate(around position: Coordinate, _ body: (Int) -> Void) {
        guard let top = levels.last, !top.isEmpty else { return }
        visit(level: levels.count - 1, top.lowerBound, Vector(position), body)
    }

    private func visit(level: Int, _ index: Int, _ point: Vector, _ body: (Int) -> Void) {
        let node = nodes[index]
        guard node.distances(to: point).least <= node.radius * node.radius else { return }
        let first = (index - levels[level].lowerBound) * Self.fanOut
        if level == 0 {
            for item in items[first..<min(first + Self.fanOut, items.count)]
            where (item.center - point).lengthSquared <= item.radius * item.radius { body(item.geofence) }
        } else {
            let below = levels[level - 1]
            let start = below.lowerBound + first
            for child in start..<min(start + Self.fanOut, below.upperBound) {
                visit(level: level - 1, child, point, body)
            }
        }
    }

    /// The regions that hold a position, in the order given.
    public func regions(around position: Coordinate) -> [Geofence] {
        var found: [Int] = []
        forEachCandidate(around: position) { index in
            if geofences[index].distanceToEdge(from: position) < 0 { found.append(index) }
        }
        return found.sorted().map { geofences[$0] }
    }

    /// A region and how far its edge is.
    public struct Neighbour: Sendable, Hashable {
        public let geofence: Geofence
        /// Metres: negative inside, positive outside.
        public let distanceToEdge: Double
    }

    /// The regions whose edges are nearest, the nearest first, from inside or from outside.
    ///
    /// The next event can only come from one of the first.
    public func nearest(_ count: Int, to position: Coordinate) -> [Neighbour] {
        guard let top = levels.last, !top.isEmpty, count > 0 else { return [] }
        let point = Vector(position)
        var found: [Neighbour] = []
        var queue = NearestQueue()
        queue.push(.init(bound: 0, level: levels.count - 1, index: top.lowerBound))
        while let next = queue.pop() {
            if next.level == -2 {
                found.append(Neighbour(geofence: geofences[next.index], distanceToEdge: next.exact))
                if found.count == count { break }
            } else if next.level == -1 {
                let exact = geofences[items[next.index].geofence].distanceToEdge(from: position)
                queue.push(
                    .init(bound: exact.magnitude, level: -2, index: items[next.index].geofence, exact: exact))
            } else {
                expand(next.level, next.index, point, &queue)
            }
        }
        return found
    }

    private func expand(_ level: Int, _ index: Int, _ point: Vector, _ queue: inout NearestQueue) {
        let first = (index - levels[level].lowerBound) * Self.fanOut
        if level == 0 {
            for place in first..<min(first + Self.fanOut, items.count) {
                let item = items[place]
                let distance = (item.center - point).length
                let bound = max(distance - item.radius, item.edgeFreeRadius - distance, 0)
                queue.push(.init(bound: bound, level: -1, index: place))
            }
            return
        }
        let below = levels[level - 1]
        let start = below.lowerBound + first
        for child in start..<min(start + Self.fanOut, below.upperBound) {
            let node = nodes[child]
            let (least, greatest) = node.distances(to: point)
            let bound = max(least.squareRoot() - node.radius, node.edgeFreeRadius - greatest.squareRoot(), 0)
            queue.push(.init(bound: bound, level: level - 1, index: child))
        }
    }
}

/// A binary heap with the least bound on top; equal bounds by place, so that the order is always the same.
struct NearestQueue {
    struct Entry {
        var bound: Double
        /// The level of a node, -1 for an item, -2 for a region whose distance is exact.
        var level: Int
        var index: Int
        var exact = 0.0

        static func < (left: Entry, right: Entry) -> Bool {
            if left.bound != right.bound { return left.bound < right.bound }
            return left.level != right.level ? left.level > right.level : left.index < right.index
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
