import DBus

/// The code of the documentation comment of `Connection`, compiled; `CodeTests` compares. It needs a Bluetooth adapter, so it is
/// not run.
private enum CommentSample {
    static func adapter(environment: [String: String]) async throws -> Bool {
        let connection = try await Connection.open(Address.system(environment: environment))
        let adapter = connection.object("/org/bluez/hci0", of: "org.bluez")
        let isPowered: Bool = try await adapter.property("Powered", of: "org.bluez.Adapter1")
        return isPowered
    }
}
