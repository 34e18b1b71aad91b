/// An area marked by beacons: a device is inside while it hears any of them.
public struct Region: Sendable, Hashable, Codable {
    /// The app's name for it.
    public let name: String
    /// The beacons that mark it.
    public let condition: BeaconCondition

    public init(_ name: String, _ condition: BeaconCondition) {
        self.name = name
        self.condition = condition
    }
}
