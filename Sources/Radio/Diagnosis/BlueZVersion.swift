#if Desktop && os(Linux)
import DBus
import AsyncSupport
import Foundation
#endif

/// A version of BlueZ.
struct BlueZVersion: Sendable, Hashable, Comparable {
    let major: Int
    let minor: Int

    init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Parses the output of `bluetoothd --version`, such as `5.66`; nil for anything else.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let major = Int(parts[0]), let minor = Int(parts[1]), major >= 0, minor >= 0 else {
            return nil
        }
        self.init(major: major, minor: minor)
    }

    static func < (left: BlueZVersion, right: BlueZVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    /// The known defect of this version's monitor, if any (dossier 7.2, known breakage).
    var monitorDefect: String? {
        guard major == 5 else { return nil }
        return switch minor {
        case ..<56: "it has no monitor yet"
        case 69, 70: "its monitor never matches manufacturer data, so it receives no iBeacons"
        case 79...82: "a long extended advertisement ends it while a monitor is active"
        default: nil
        }
    }
}

extension BlueZVersion: CustomStringConvertible {
    var description: String { "\(major).\(minor)" }
}

#if Desktop && os(Linux)
extension BlueZVersion {
    /// The paths of the daemon, which is not in PATH.
    static let daemons = [
        "/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd", "/usr/sbin/bluetoothd",
    ]

    /// The version of the installed daemon; nil when unknown.
    ///
    /// BlueZ does not report its version over the bus, so the program is run. A daemon that was started before an update may be
    /// older.
    static func installed(_ daemons: [String] = daemons, clock: any Clock<Duration>) async -> BlueZVersion? {
        guard let daemon = daemons.first(where: FileManager.default.isExecutableFile(atPath:)) else { return nil }
        let process = Process()
        process.executableURL = URL(filePath: daemon)
        process.arguments = ["--version"]
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let (ends, announce) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in announce.finish() }
        guard (try? process.run()) != nil else { return nil }
        let ended: Void? = try? await within(.seconds(5), on: clock) {
            for await _ in ends {}
            try Task.checkCancellation()
        }
        guard ended != nil else {
            // It did not exit, so it is not the expected program: terminate it.
            process.terminate()
            return nil
        }
        // It has exited, so this does not block, and a version fits into the pipe's buffer.
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        return BlueZVersion(text.prefix { !$0.isWhitespace })
    }
}
#endif
