/// A place that beacons mark out: one is inside while any of them is heard.
public struct Region: Sendable, Hashable, Codable {
    /// The app's own word for it.
    public let name: String
    /// Which beacons mark it out.
    public let condition: BeaconCondition

    public init(_ name: String, _ condition: BeaconCondition) {
        self.name = name
        self.condition = condition
    }
}
