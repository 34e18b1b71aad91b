import Beacons
import Circles
import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

/// A watch publishes while a command decides: each has a handle of its own on the same files.
@Suite("Two processes with one vault", .heavy)
struct CircleProcessesTests {
    private struct Pair {
        let folder: TemporaryFolder
        let watch: CircleDevice
        let watching: JoinedCircle
        let command: CircleDevice
        let commanding: JoinedCircle

        init(_ world: CircleWorld) async throws {
            folder = try TemporaryFolder()
            let open = { [path = folder.path] in
                try FileVault(directory: path + "/vault", keyFile: path + "/key")
            }
            watch = CircleDevice(world, vault: try open())
            watching = try await watch.join()
            command = CircleDevice(world, vault: try open())
            commanding = try #require(try await JoinedCircle.all(in: command.environment).first)
        }

        /// Lets the watch publish, and the command do something at a request of it.
        func publish(
            at moment: Moment, _ body: @escaping @Sendable (JoinedCircle) async throws -> Void
        ) async throws {
            try await watching.records.changeState { $0.publishedUntil = 0 }
            let count = Mutex(0)
            watch.transport.intercept { [commanding] request, pass in
                let isMeant = count.withLock { count in
                    if request == moment.request { count += 1 }
                    return request == moment.request && count == moment.occurrence
                }
                guard isMeant else { return try await pass() }
                if moment.isAnswered {
                    let answer = try await pass()
                    try await body(commanding)
                    return answer
                }
                try await body(commanding)
                return try await pass()
            }
            _ = try await watching.synchronize()
            watch.transport.intercept(with: nil)
            #expect(count.withLock(\.self) >= moment.occurrence)
        }
    }

    /// Where the command comes in between.
    struct Moment: Sendable {
        let request: String
        var occurrence = 1
        var isAnswered = false
    }

    /// Before the sequence is drawn (the second look at the server's clock), before the keys arrive, and before their answer does.
    private static let moments = [
        Moment(request: "GET /rc/v1", occurrence: 2), Moment(request: "PUT /rc/v1/me/keys"),
        Moment(request: "PUT /rc/v1/me/keys", isAnswered: true),
    ]

    @Test(
        "CI34: a pause in another process wins over keys that a watch is publishing, whatever arrives last",
        arguments: moments)
    func pause(moment: Moment) async throws {
        try await CircleWorld.with { world in
            let pair = try await Pair(world)
            try await pair.publish(at: moment) { _ = try await $0.pause() }
            let keys = try #require(await world.circle.members[759]?.keys)
            #expect(keys.isWithdrawal)
            let state = try await pair.watching.state()
            #expect(state.isPaused && !state.mustWithdraw && state.publishedUntil == 0)
            // It stays so.
            _ = try await pair.watching.synchronize()
            #expect(await world.circle.members[759]?.keys == keys)
        }
    }

    @Test(
        "CI34: a pause that cannot be told is told by the watch, also when its first keys were on their way",
        arguments: moments)
    func untoldPause(moment: Moment) async throws {
        try await CircleWorld.with { world in
            let pair = try await Pair(world)
            pair.command.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            try await pair.publish(at: moment) { circle in
                let delivery = try await circle.pause()
                #expect(delivery == .pending)
            }
            #expect(try await pair.commanding.state().isPaused)
            _ = try await pair.watching.synchronize()
            #expect(await world.circle.members[759]?.keys?.isWithdrawal == true)
        }
    }

    @Test("a resume in another process wins over a withdrawal that is on its way", arguments: moments)
    func resume(moment: Moment) async throws {
        try await CircleWorld.with { world in
            let pair = try await Pair(world)
            pair.command.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            _ = try await pair.commanding.pause()
            pair.command.transport.fail(nil)
            try await pair.publish(at: moment) { try await $0.resume() }
            _ = try await pair.watching.synchronize()
            #expect(await world.circle.members[759]?.keys?.isWithdrawal == false)
        }
    }

    @Test(
        "CI31: who is hidden by another process never gets the new keys, also when only the watch reaches the server",
        arguments: moments)
    func hide(moment: Moment) async throws {
        try await CircleWorld.with { world in
            let pair = try await Pair(world)
            let zoe = CircleDevice(world)
            let zoes = try await zoe.join(as: CircleDevice.zoe)
            #expect(try await zoe.recognizes(pair.watch, zoes) != nil)
            pair.command.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            try await pair.publish(at: moment) { circle in
                let hiding = try await circle.hide(UserNumber(65_535))
                #expect(hiding.delivery == .pending)
            }
            // Whatever the server has now is what Zoë can fetch.
            for _ in 0..<2 {
                try await zoes.synchronize()
                #expect(try await zoe.recognizes(pair.watch, zoes) == nil)
                _ = try await pair.watching.synchronize()
            }
            #expect(try await zoes.members().isEmpty)
        }
    }

    @Test(
        "CI57: who stops taking waves while a watch publishes keys takes none after the next synchronisation",
        arguments: moments)
    func waves(moment: Moment) async throws {
        try await CircleWorld.with { world in
            let pair = try await Pair(world)
            pair.command.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            try await pair.publish(at: moment) { circle in
                let delivery = try await circle.change(.init(waves: false))
                #expect(delivery == .pending)
            }
            _ = try await pair.watching.synchronize()
            #expect(await world.circle.members[759]?.keys?.terms.waves == false)
            #expect(try await pair.watching.visibility().isTold)
        }
    }

    @Test("CI57: settings that arrive after another process has changed them do not undo what is shown")
    func lateSettings() async throws {
        try await CircleWorld.with { world in
            let pair = try await Pair(world)
            #expect(try await pair.watching.refreshVisibility())
            pair.watch.transport.intercept { [commanding = pair.commanding] request, pass in
                let answer = try await pass()
                if request == "GET /rc/v1/me" { try await commanding.change(.init(photo: false)) }
                return answer
            }
            #expect(try await pair.watching.refreshVisibility())
            pair.watch.transport.intercept(with: nil)
            #expect(try await pair.watching.visibility().photo == false)
        }
    }

    /// Lets the watch tell the server of a decision, and the command decide otherwise before that arrives.
    private func overtake(
        _ pair: Pair, at method: String, _ body: @escaping @Sendable (JoinedCircle) async throws -> Void
    ) async throws {
        let hasCome = Mutex(false)
        pair.watch.transport.intercept { request, pass in
            let isFirst = hasCome.withLock { hasCome in
                defer { hasCome = hasCome || request == "\(method) /rc/v1/me/hidden/65535" }
                return !hasCome && request == "\(method) /rc/v1/me/hidden/65535"
            }
            if isFirst { try await body(pair.commanding) }
            return try await pass()
        }
        _ = try await pair.watching.synchronize()
        pair.watch.transport.intercept(with: nil)
        #expect(hasCome.withLock { $0 })
    }

    @Test("CI31: who is hidden again by another process stays hidden, though an earlier request arrives later")
    func hiddenAgain() async throws {
        try await CircleWorld.with { world in
            let pair = try await Pair(world)
            let zoe = CircleDevice(world)
            let zoes = try await zoe.join(as: CircleDevice.zoe)
            try await pair.commanding.hide(UserNumber(65_535))
            pair.command.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            _ = try await pair.commanding.unhide(UserNumber(65_535))
            pair.command.transport.fail(nil)
            try await overtake(pair, at: "DELETE") { circle in
                let delivery = try await circle.hide(UserNumber(65_535)).delivery
                #expect(delivery == .delivered)
            }
            for _ in 0..<2 {
                try await zoes.synchronize()
                #expect(try await zoe.recognizes(pair.watch, zoes) == nil)
                _ = try await pair.watching.synchronize()
            }
            #expect(await world.circle.members[759]?.hidden == [65_535])
        }
    }

    @Test("who is no longer hidden, by another process, is shown, though an earlier request arrives later")
    func shownAgain() async throws {
        try await CircleWorld.with { world in
            let pair = try await Pair(world)
            let zoe = CircleDevice(world)
            let zoes = try await zoe.join(as: CircleDevice.zoe)
            pair.command.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            try await pair.commanding.hide(UserNumber(65_535))
            pair.command.transport.fail(nil)
            try await overtake(pair, at: "PUT") { circle in
                let delivery = try await circle.unhide(UserNumber(65_535))
                #expect(delivery == .delivered)
            }
            _ = try await pair.watching.synchronize()
            try await zoes.synchronize()
            #expect(await world.circle.members[759]?.hidden == [])
            #expect(try await zoe.recognizes(pair.watch, zoes) != nil)
        }
    }

    @Test("CI34: a rotation after a pause that the server never heard of is news, so that the old keys go soon")
    func pausedAndRotated() async throws {
        try await CircleWorld.with { world in
            let pair = try await Pair(world)
            pair.command.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            _ = try await pair.commanding.pause()
            await #expect(throws: NearbyError.self) { try await pair.commanding.rotate() }
            #expect(try await pair.watching.state().hasNews)
            _ = try await pair.watching.synchronize()
            #expect(try await !pair.watching.state().hasNews)
            #expect(await world.circle.members[759]?.keys?.isWithdrawal != false)
        }
    }
}
