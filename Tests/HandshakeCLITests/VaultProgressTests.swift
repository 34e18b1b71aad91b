import Handshake
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeCLI

@Suite("The progress of a long command on a vault")
struct VaultProgressTests {
    /// What was said, and the time.
    private final class Said: Sendable {
        private let state = Mutex<(lines: [String], now: Double)>(([], 1_000))

        var lines: [String] { state.withLock { $0.lines } }
        var time: TimeSource { TimeSource(now: { self.state.withLock { $0.now } }, clock: ManualClock()) }

        func add(_ line: String) { state.withLock { $0.lines.append(line) } }
        func pass(_ seconds: Double) { state.withLock { $0.now += seconds } }
    }

    @Test("a command says how far it is every five seconds, and nothing when it is done sooner")
    func lines() {
        let said = Said()
        let progress = VaultProgress(isShown: true, time: said.time) { said.add($0) }
        progress.note("1 record copied")
        said.pass(4.9)
        progress.note("2 records copied")
        #expect(said.lines.isEmpty)
        said.pass(0.2)
        progress.note("3 records copied")
        progress.note("4 records copied")
        #expect(said.lines == ["handshake: so far 3 records copied"])
        // The clock was set back.
        said.pass(-100)
        progress.note("5 records copied")
        #expect(said.lines.last == "handshake: so far 5 records copied")
    }

    @Test("an interrupted command says what it had done and what to do, and another failure says nothing")
    func interrupted() async throws {
        let said = Said()
        let progress = VaultProgress(isShown: true, time: said.time) { said.add($0) }
        await #expect(throws: CancellationError.self) {
            try await progress.during { throw CancellationError() }
        }
        progress.note("7 records copied")
        await #expect(throws: CancellationError.self) {
            try await progress.during(advice: "Run it again.") { throw CancellationError() }
        }
        #expect(
            said.lines == ["Interrupted before the first record.", "Interrupted: 7 records copied. Run it again."])
        await #expect(throws: VaultError.self) {
            try await progress.during { throw VaultError.busy("a record") }
        }
        #expect(said.lines.count == 2)
    }

    @Test("a command whose standard error is no terminal, or that prints JSON, says nothing of how far it is")
    func unshown() async throws {
        let said = Said()
        let progress = VaultProgress(isShown: false, time: said.time) { said.add($0) }
        said.pass(60)
        progress.note("7 records copied")
        await #expect(throws: CancellationError.self) {
            try await progress.during { throw CancellationError() }
        }
        #expect(said.lines.isEmpty)
    }

    @Test("reading a vault counts its records as it goes")
    func inventory() async throws {
        let said = Said()
        let vault = MemoryVault()
        for name in ["a", "b", "c"] {
            try await vault.update(VaultKey(.delivery, [name])) { try await $0.replace(with: [1]) }
        }
        let progress = VaultProgress(isShown: true, time: said.time) { said.add($0) }
        said.pass(60)
        #expect(try await progress.inventory(of: vault).records == 3)
        #expect(said.lines == ["handshake: so far 1 record read, 0 could not be read"])
    }
}
