package import DBus
import Foundation
import TestFixtures

/// A message bus of its own, which ends with its test.
package final class BusDaemon: Sendable {
    package let addressText: String
    /// A folder for the files of this bus and of the programs on it.
    package var folder: String { temporary.path }
    private let temporary: TemporaryFolder
    private let child: Child

    package init() async throws {
        temporary = try TemporaryFolder()
        let folder = temporary.path
        let configuration = folder + "/bus.conf"
        try Self.configuration(folder).write(toFile: configuration, atomically: true, encoding: .utf8)
        child = try Child(
            .busDaemon, ["--config-file=" + configuration, "--nofork", "--nopidfile", "--print-address=1"])
        addressText = try await child.firstLine()
    }

    /// As the configuration of a session, but without the folders from which a bus starts services: nothing of the machine
    /// answers here.
    private static func configuration(_ folder: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <keep_umask/>
          <listen>unix:path=\(folder)/bus</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
          </policy>
          <limit name="max_message_size">134217728</limit>
          <limit name="max_incoming_bytes">1000000000</limit>
          <limit name="max_outgoing_bytes">1000000000</limit>
        </busconfig>
        """
    }

    deinit {
        child.end()
    }

    /// Ends the bus.
    package func stop() async {
        await child.stop()
    }

    package func connect(options: Connection.Options = .init()) async throws -> Connection {
        try await Connection.open(
            Address.session(environment: ["DBUS_SESSION_BUS_ADDRESS": addressText]), options: options)
    }

    /// Starts a program on this bus.
    package func start(_ tool: Tool, _ arguments: [String], input: String? = nil) throws -> Child {
        try Child(
            tool, arguments,
            environment: ["DBUS_SESSION_BUS_ADDRESS": addressText, "HOME": folder, "XDG_RUNTIME_DIR": folder],
            input: input)
    }

    /// Starts gnome-keyring, unlocked with a password, and returns when it is there.
    package func startKeyring(password: String) async throws -> Child {
        let connection = try await connect()
        defer { connection.close() }
        var presence = try await connection.presence(of: "org.freedesktop.secrets").makeAsyncIterator()
        _ = try await presence.next()
        let keyring = try start(.keyring, ["--foreground", "--unlock", "--components=secrets"], input: password)
        _ = try await presence.next()
        return keyring
    }

    /// Runs a foreign client on this bus and returns its output.
    ///
    /// - Throws: `Child.Failure` when it fails.
    package func run(_ tool: Tool, _ arguments: [String], input: String? = nil) async throws -> String {
        let (output, status) = await (try start(tool, arguments, input: input)).finish()
        guard status == 0 else { throw Child.Failure(description: "\(tool.rawValue) failed: \(output)") }
        return output
    }
}

extension Connection {
    /// Asks the bus for a well-known name, as the services that tests stand in for do.
    ///
    /// - Returns: whether this connection owns the name now; it neither waits in the queue nor replaces an owner.
    package func requestName(_ name: BusName) async throws -> Bool {
        let doNotQueue: UInt32 = 4
        let code = try await call(
            MethodCall(
                "RequestName", in: "org.freedesktop.DBus", of: "/org/freedesktop/DBus", at: "org.freedesktop.DBus",
                arguments: [name.text.value, doNotQueue.value])
        ).read(UInt32.self)
        // 1: now the owner; 4: already the owner.
        return code == 1 || code == 4
    }
}
