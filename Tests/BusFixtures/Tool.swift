import Foundation

/// A program that a test starts when the machine has it.
package enum Tool: String, Sendable {
    case busDaemon = "dbus-daemon"
    case gdbus
    case busctl
    case keyring = "gnome-keyring-daemon"
    case secretTool = "secret-tool"
    /// The python of the system: it sees the packages of the system.
    case python = "python3"

    /// Where the program is, or nil.
    package var path: String? {
        let searched = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let folders = self == .python ? ["/usr/bin"] : searched + ["/usr/bin", "/bin"]
        return folders.map { "\($0)/\(rawValue)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Whether these programs are all there.
    package static func areInstalled(_ tools: Tool...) -> Bool {
        tools.allSatisfy { $0.path != nil }
    }

    /// Whether Debian's package python3-dbusmock is there.
    package static var hasDBusMock: Bool {
        areInstalled(.python)
            && FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/dbusmock/__init__.py")
    }
}
