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

#if os(Linux)
@Suite("Programs of a test", .heavy)
struct ProgramTests {
    @Test("start, however many processes other tests start meanwhile")
    func starts() throws {
        let folder = try TemporaryFolder()
        let isDone = Mutex(false)
        let others = DispatchGroup()
        defer {
            isDone.withLock { $0 = true }
            others.wait()
        }
        for _ in 0..<4 {
            DispatchQueue.global().async(group: others) {
                while !isDone.withLock({ $0 }) { _ = Self.start("/bin/true") }
            }
        }
        var refused: [Int32] = []
        for number in 0..<100 {
            let program = folder.path + "/\(number)"
            try writeProgram(Data("#!/bin/true\n".utf8), to: program)
            let code = Self.start(program)
            if code != 0 { refused.append(code) }
        }
        #expect(refused == [])
    }

    /// Starts a program, waits for its end, and returns the error number of the start.
    private static func start(_ program: String) -> Int32 {
        var process = pid_t()
        let name = strdup(program)
        defer { free(name) }
        let code = posix_spawn(&process, program, nil, nil, [name, nil], nil)
        var status: Int32 = 0
        if code == 0 { while waitpid(process, &status, 0) < 0 && errno == EINTR {} }
        return code
    }
}
#endif
