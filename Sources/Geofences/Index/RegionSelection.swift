/// The regions to register with a system that monitors only a few.
///
/// Where not all fit, one place goes to a boundary: a circle around the user that is left before the edge of a region that is not
/// registered can be reached. Leaving it is the moment to select again. Regions of other owners take places and are never stopped.
public struct RegionSelection: Sendable, Hashable {
    /// The system's limit of 20 regions for an app on iOS.
    public static let appleLimit = 20

    /// The regions to be registered, the nearest edge first.
    public let regions: [Geofence]
    /// The region whose exit asks for the next selection. Nil when every region is registered.
    public let boundary: Geofence?
    /// Whether the boundary keeps its promise. False where more edges are closer together than places are free:
    /// then the boundary has the least radius that the system notices.
    public let isComplete: Bool

    /// Selects regions.
    ///
    /// - Parameters:
    ///   - index: all wanted regions.
    ///   - fix: where the user is.
    ///   - limit: the system's limit.
    ///   - others: how many regions of other owners are registered.
    ///   - boundaryID: the identifier of the boundary.
    ///   - minimumRadius: the smallest radius in metres that the system notices.
    ///   - maximumRadius: the greatest radius in metres that the system takes.
    /// - Throws: ``GeofencesError/identifier`` for an unusable `boundaryID`.
    public init(
        of index: GeofenceIndex, around fix: Fix, limit: Int = appleLimit, others: Int = 0, boundaryID: String,
        minimumRadius: Double = 100, maximumRadius: Double = 20_003_931
    ) throws(GeofencesError) {
        let places = max(limit - max(others, 0), 0)
        guard index.geofences.count > places else {
            regions = index.nearest(index.geofences.count, to: fix.coordinate).map(\.geofence)
            boundary = nil
            isComplete = true
            return
        }
        guard places > 0 else {
            (regions, boundary, isComplete) = ([], nil, false)
            return
        }
        let nearest = index.nearest(places, to: fix.coordinate)
        regions = nearest.dropLast().map(\.geofence)
        // What is left out begins here; the user may already be nearer by the accuracy of the fix.
        let reach = (nearest.last?.distanceToEdge.magnitude ?? 0) - fix.accuracy
        isComplete = reach >= minimumRadius
        let radius = max(min(max(reach, minimumRadius), maximumRadius, 20_003_931), 1)
        boundary = try Geofence(id: boundaryID, .circle(Circle(center: fix.coordinate, radius: radius)))
    }

    /// Which regions to start and which to stop, given those that the system monitors.
    ///
    /// - Parameters:
    ///   - monitored: every region that the system monitors for the app.
    ///   - isOwned: whether an identifier is one of ours; others are left alone.
    public func changes(
        from monitored: [Geofence], isOwned: (String) -> Bool
    ) -> (stop: [String], start: [Geofence]) {
        let wanted = regions + (boundary.map { [$0] } ?? [])
        let kept = Set(monitored).intersection(wanted)
        let stop = monitored.filter { isOwned($0.id) && !kept.contains($0) }.map(\.id)
        return (stop, wanted.filter { !kept.contains($0) })
    }
}
