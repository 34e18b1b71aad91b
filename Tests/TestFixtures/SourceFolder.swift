package import Foundation

/// A folder of this repository, in which other commands build and write while tests read.
package enum SourceFolder {
    /// The paths of the files below a folder, relative to it and sorted: regular files, and links, which are not followed.
    ///
    /// What builds and Python write beside sources is left out, and not opened: it changes while it is listed. A folder that vanishes
    /// meanwhile counts as empty.
    ///
    /// - Throws: what reading the folder itself throws.
    package static func files(below folder: URL) throws -> [String] {
        let folder = folder.resolvingSymlinksInPath()
        return try names(in: folder).flatMap { paths(from: $0, in: folder) }.sorted()
    }

    private static func paths(from path: String, in folder: URL) -> [String] {
        let place = folder.appending(path: path)
        let isFolder = try? place.resourceValues(forKeys: [.isDirectoryKey]).isDirectory
        guard isFolder == true else { return [path] }
        return ((try? names(in: place)) ?? []).flatMap { paths(from: "\(path)/\($0)", in: folder) }
    }

    private static func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !$0.hasPrefix(".build") && $0 != ".venv" && $0 != "__pycache__" }
    }
}
