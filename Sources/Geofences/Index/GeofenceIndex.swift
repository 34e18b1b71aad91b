/// An index of any number of regions. It finds those around a position and those with the nearest edges.
///
/// Building takes n log n, a search about log n; both work across the antimeridian and at the poles.
public struct GeofenceIndex: Sendable {
    /// The regions in the order given.
    public let geofences: [Geofence]

    private let items: ContiguousArray<Item>
    /// Level by level from the leaves; each node bounds 8 of the level below.
    private let nodes: ContiguousArray<IndexNode>
    private let levels: [Range<Int>]

    private static let fanOut = 8

    private struct Item: Sendable {
        var center: Vector
        var radius: Double
        var edgeFreeRadius: Double
        var geofence: Int

        /// Bounds of the distance of the edge, inside or outside, from a point this far from the center along a chord.
        func edgeDistance(from distance: Double) -> ClosedRange<Double> {
            let least = max(distance - radius, edgeFreeRadius - distance, 0)
            let farthest =
                edgeFreeRadius > 0 ? Geodesic.longest(over: distance) : Geodesic.longest(over: distance + radius)
            guard edgeFreeRadius > 0 else { return least...max(least, farthest) }
            // The center is between the chord and the longest line over it away.
            return least...max(least, (distance - radius).magnitude, (farthest - radius).magnitude)
        }
    }

    /// Indexes regions; `geofences` may hold an identifier more than once.
    public init(_ geofences: [Geofence]) {
        self.geofences = geofences
        var order = ContiguousArray<(key: UInt64, index: Int)>()
        var unordered = ContiguousArray<Item>()
        order.reserveCapacity(geofences.count)
        unordered.reserveCapacity(geofences.count)
        for (index, geofence) in geofences.enumerated() {
            let ball = geofence.ball
            unordered.append(
                Item(center: ball.center, radius: ball.radius, edgeFreeRadius: ball.edgeFreeRadius, geofence: index))
            order.append((ball.center.curvePosition, index))
        }
        order.sort { $0.key < $1.key }
        items = ContiguousArray(order.map { unordered[$0.index] })
        (nodes, levels) = Self.build(items)
    }

    private static func build(_ items: ContiguousArray<Item>) -> (ContiguousArray<IndexNode>, [Range<Int>]) {
        var nodes: ContiguousArray<IndexNode> = []
        var levels: [Range<Int>] = []
        nodes.reserveCapacity(items.count / (fanOut - 1) + 8)
        for first in stride(from: 0, to: items.count, by: fanOut) {
            var node = IndexNode()
            for item in items[first..<min(first + fanOut, items.count)] {
                node.include(item.center, radius: item.radius, edgeFreeRadius: item.edgeFreeRadius)
            }
            nodes.append(node)
        }
        levels.append(0..<nodes.count)
        while let below = levels.last, below.count > 1 {
            for first in stride(from: below.lowerBound, to: below.upperBound, by: fanOut) {
                var node = IndexNode()
                for child in nodes[first..<min(first + fanOut, below.upperBound)] { node.include(child) }
                nodes.append(node)
            }
            levels.append(below.upperBound..<nodes.count)
        }
        return (nodes, levels)
    }

    /// Calls `body` with the place of each region that may hold the position; all that do are among them.
    func forEachCandidate(around position: Coordinate, _ body: (Int) -> Void) {
        guard let top = levels.last, !top.isEmpty else { return }
        let point = Vector(position)
        visit(level: levels.count - 1, top.lowerBound, point, IndexNode.point(point), body)
    }

    private func visit(
        level: Int, _ index: Int, _ point: Vector, _ rounded: SIMD4<Float>, _ body: (Int) -> Void
    ) {
        guard nodes[index].mayHold(rounded) else { return }
        let first = (index - levels[level].lowerBound) * Self.fanOut
        if level == 0 {
            for item in items[first..<min(first + Self.fanOut, items.count)]
            where (item.center - point).lengthSquared <= item.radius * item.radius { body(item.geofence) }
        } else {
            let below = levels[level - 1]
            let start = below.lowerBound + first
            for child in start..<min(start + Self.fanOut, below.upperBound) {
                visit(level: level - 1, child, point, rounded, body)
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

    /// The regions whose edges are nearest, from inside or outside, nearest first.
    ///
    /// The next event can only come from one of the first. Distances are in metres: negative inside, positive outside.
    public func nearest(
        _ count: Int, to position: Coordinate
    ) -> [(geofence: Geofence, distanceToEdge: Double)] {
        guard let top = levels.last, !top.isEmpty, count > 0 else { return [] }
        let point = Vector(position)
        let rounded = IndexNode.point(point)
        var found: [(geofence: Geofence, distanceToEdge: Double)] = []
        var reach = NearestReach(count)
        var queue = NearestQueue()
        queue.push(.init(bound: 0, .node(level: levels.count - 1), index: top.lowerBound))
        while let next = queue.pop() {
            switch next.kind {
            case .exact(let isInside):
                found.append(
                    (geofences[next.index], isInside ? -next.bound : next.bound))
                if found.count == count { return found }
            case .item:
                let index = items[next.index].geofence
                let exact = geofences[index].distanceToEdge(from: position)
                queue.push(.init(bound: exact.magnitude, .exact(isInside: exact < 0), index: index))
            case .node(level: 0):
                let first = next.index * Self.fanOut
                for place in first..<min(first + Self.fanOut, items.count) {
                    let bounds = items[place].edgeDistance(from: (items[place].center - point).length)
                    guard bounds.lowerBound <= reach.limit else { continue }
                    reach.narrow(to: bounds.upperBound)
                    queue.push(.init(bound: bounds.lowerBound, .item, index: place))
                }
            case .node(let level):
                let below = levels[level - 1]
                let start = below.lowerBound + (next.index - levels[level].lowerBound) * Self.fanOut
                for child in start..<min(start + Self.fanOut, below.upperBound) {
                    let bound = nodes[child].leastEdgeDistance(from: rounded)
                    if bound <= reach.limit { queue.push(.init(bound: bound, .node(level: level - 1), index: child)) }
                }
            }
        }
        return found
    }
}
