import Foundation
import Synchronization
import Testing

@testable import TestFixtures

@Suite("Heavy tests", .heavy)
struct HeavyTraitTests {
    private static let running = Mutex((now: 0, most: 0))

    @Test("run a few at a time", .heavy, arguments: 0..<50)
    func bounded(_ number: Int) async throws {
        Self.running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        for _ in 0..<100 { await Task.yield() }
        let most = Self.running.withLock { running in
            running.now -= 1
            return running.most
        }
        #expect(most <= HeavyTrait.width)
    }
}

@Suite("A semaphore of tasks")
struct AsyncSemaphoreTests {
    @Test("lets in as many as it counts, and the next when one leaves")
    func counts() async {
        let semaphore = AsyncSemaphore(2)
        let (entered, enter) = AsyncStream<Int>.makeStream()
        for number in 0..<2 {
            await semaphore.wait()
            enter.yield(number)
        }
        let third = Task {
            await semaphore.wait()
            enter.yield(3)
        }
        enter.yield(2)
        semaphore.signal()
        await third.value
        enter.finish()
        #expect(await entered.reduce(into: []) { $0.append($1) } == [0, 1, 2, 3])
    }
}

@Suite("Temporary folders", .ownThreads)
struct TemporaryFolderTests {
    @Test("are empty and distinct, and are removed with their value")
    func removal() throws {
        let path: String
        do {
            let (one, two) = (try TemporaryFolder(), try TemporaryFolder())
            #expect(one.path != two.path && one.names().isEmpty)
            try Data("x".utf8).write(to: one.url.appending(path: "file"))
            #expect(one.names() == ["file"] && two.names().isEmpty)
            path = one.path
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("that are still in use when the process exits are removed")
    func exit() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let folder = try TemporaryFolder()
            try FileHandle.standardOutput.write(contentsOf: Data("<\(folder.path)>".utf8))
            Foundation.exit(EXIT_SUCCESS)
        }
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        let path = try #require(output.firstMatch(of: /<([^>]+)>/)?.1)
        #expect(!FileManager.default.fileExists(atPath: String(path)))
    }
}
