import Foundation
import Testing

@testable import TestFixtures

@Suite("A folder of sources", .ownThreads)
struct SourceFolderTests {
    private static func make(_ paths: [String], below folder: URL) throws {
        for path in paths {
            let place = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: place)
        }
    }

    @Test("is listed without what builds and Python write, and links are not followed")
    func listing() throws {
        let folder = try TemporaryFolder()
        try Self.make(
            [
                "b/c/two.swift", "b/one.swift", "a", ".github/page", ".build/x.swift", "b/.build-old/y.swift",
                "b/.venv/z.py",
                "b/__pycache__/z.pyc",
            ], below: folder.url)
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "b")
        #expect(
            try SourceFolder.files(below: folder.url) == [".github/page", "a", "b/c/two.swift", "b/one.swift", "link"])
        #expect(throws: CocoaError.self) { try SourceFolder.files(below: folder.url.appending(path: "missing")) }
    }

    @Test("is listed while folders in it come and go")
    func vanishing() async throws {
        let folder = try TemporaryFolder()
        try Self.make(["last/one.swift"], below: folder.url)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [url = folder.url] in
                while !Task.isCancelled {
                    for name in ["build/a", ".build/a"] {
                        try Self.make((0..<20).map { "\(name)/\($0)/file.o" }, below: url)
                        try FileManager.default.removeItem(at: url.appending(path: name))
                    }
                }
            }
            for _ in 0..<200 {
                let files = try SourceFolder.files(below: folder.url)
                #expect(files.filter { !$0.hasPrefix("build/") } == ["last/one.swift"])
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
