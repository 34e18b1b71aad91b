import Foundation

/// The sources of all tests of this repository.
package enum TestSources {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// The Swift and Python files below `Tests`, by their paths there, with their texts.
    ///
    /// A package below `Tests` that has been built holds the sources of other packages. They are left out.
    package static func all() throws -> [(path: String, text: String)] {
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { path in
            (path.hasSuffix(".swift") || path.hasSuffix(".py"))
                && !path.split(separator: "/").contains { $0.hasPrefix(".build") || $0 == ".venv" }
        }
        .map { (path: $0, text: try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
    }
}
