package import Foundation
import Synchronization

/// A folder of a test's own, which is removed with this value, and at the latest when the process exits.
package final class TemporaryFolder: Sendable {
    private static let next = Mutex(0)

    /// The folder of all temporary folders of this process.
    private static let root: String = {
        let root = NSTemporaryDirectory() + "handshake-\(ProcessInfo.processInfo.processIdentifier)"
        atexit {
            // More than one try: a folder whose value ends now is removed at the same time.
            for _ in 0..<10 where FileManager.default.fileExists(atPath: TemporaryFolder.root) {
                try? FileManager.default.removeItem(atPath: TemporaryFolder.root)
            }
        }
        return root
    }()

    /// Short, so that the name of a Unix socket has room in it.
    package let path: String

    package var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

    package init() throws {
        let number = Self.next.withLock { next in
            next += 1
            return next
        }
        path = "\(Self.root)/\(number)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The names in the folder, or in one inside it, sorted.
    package func names(_ folder: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path + "/" + folder)) ?? []).sorted()
    }

    /// The permissions of a file in the folder.
    package func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }
}
