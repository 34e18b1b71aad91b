import Foundation
import Geofences
import Handshake
import OAuth
import TestFixtures
import Testing

@testable import IFTTTConnect

/// Whose areas and crossings these are, over sign-ins of this and of other processes.
@Suite("Places: sign-in")
struct SignInTests {
    private let region = "ifttt_\(PlacesBench.exit)"

    private func id() throws -> ConnectionID { try ConnectionID(Balcony.id) }

    private func fix(_ latitude: Double, _ seconds: Double) throws -> Fix {
        try Fix(
            Coordinate(latitude: latitude, longitude: 13.4049), accuracy: 5,
            time: Date(timeIntervalSince1970: PlacesBench.now + seconds))
    }

    @Test(
        "F089: another user's sign-in ends areas, whereabouts and crossings of the one before, and nothing of them is sent",
        arguments: [PlacesSynchronizer.Reason.crossing, .periodic])
    func otherUser(reason: PlacesSynchronizer.Reason) async throws {
        let bench = PlacesBench([
            PlacesBench.me: [.json(PlacesBench.user("edsger_i")), .json(PlacesBench.user("grace_h"))],
            "GET \(PlacesBench.path)": [
                .json(Balcony.json()), .json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"])),
            ],
        ])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        try await synchronizer.receive(fix(52.53, 0), now: nil)
        let crossing = try #require(try await synchronizer.record(.exit, of: region, at: PlacesBench.now))
        bench.signIn("utk_of_grace")
        #expect(await synchronizer.synchronize(reason) == .newData)
        #expect(try bench.uploads.isEmpty)
        #expect(try await synchronizer.waiting().isEmpty)
        #expect(try await bench.synchronizer().whereabouts == .init(lastFix: nil, inside: []))
        #expect(try await synchronizer.regions.map(\.id) == ["ifttt_a0"])
        #expect(await synchronizer.finishedEvents().contains(.discarded(crossing, .otherUser)))
    }

    @Test("F081: where the user was is not written back by a process that goes on while another forgets it")
    func forgottenMeanwhile() async throws {
        let bench = PlacesBench([
            PlacesBench.me: [.json(PlacesBench.user("edsger_i")), .json(PlacesBench.user("grace_h"))]
        ])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        try await synchronizer.receive(fix(52.53, 0), now: nil)
        try await PlacesSynchronizer.forget("ifttt", in: bench.vault)
        for second in 1..<60 {
            let (_, crossings) = try await synchronizer.receive(fix(52.5201, Double(second) * 10), now: nil)
            #expect(crossings.isEmpty)
        }
        #expect(try await bench.vault.keys(of: .places).keys.isEmpty)
        #expect(try await bench.vault.keys(of: .crossings).keys.isEmpty)
        // The process still knows its last position; the next user is not shown it.
        bench.signIn("utk_of_grace")
        try await synchronizer.activate([id()])
        #expect(try await synchronizer.whereabouts == .init(lastFix: nil, inside: []))
        #expect(await synchronizer.finishedEvents().contains(.statusChanged(.inactive(.connections))))
    }

    @Test("a position that is stored while another process forgets the account is refused by the vault's record")
    func forgottenBetween() async throws {
        let bench = PlacesBench()
        let store = PlaceStore(vault: bench.vault, account: "ifttt", random: .system)
        let owner = try await store.connections().owner
        #expect(try await store.save(.init(), of: owner))
        try await store.removeAll()
        #expect(try await !store.save(.init(), of: owner))
        #expect(try await bench.vault.keys(of: .places).keys.isEmpty)
        let next = try await store.connections().owner
        #expect(try await !store.save(.init(), of: owner))
        #expect(try await store.save(.init(), of: next))
        try await store.change { $0.signIn(as: "grace_h", by: "token") }
        #expect(try await !store.save(.init(), of: next))
    }

    @Test("another token of the same user keeps areas and crossings, and the service is asked once whose it is")
    func sameUser() async throws {
        let bench = PlacesBench()
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        try await synchronizer.record(.exit, of: region, at: PlacesBench.now)
        bench.signIn("utk_another")
        for _ in 0..<2 { await synchronizer.synchronize(.crossing) }
        #expect(try bench.uploads.joined().count == 1)
        #expect(bench.fetches == 1)
        #expect(bench.ifttt.lines.count { $0 == PlacesBench.me } == 2)
    }

    @Test("a token that is stored during a synchronization is not used by it")
    func tokenMeanwhile() async throws {
        let bench = PlacesBench()
        let synchronizer = try bench.synchronizer { $0.retry = .none }
        try await synchronizer.activate([id()])
        try await synchronizer.record(.exit, of: region, at: PlacesBench.now)
        bench.ifttt.answer(
            "GET \(PlacesBench.path)", .late(503, after: { [bench] in bench.signIn("utk_of_grace") }))
        await synchronizer.synchronize()
        let upload = try #require(bench.ifttt.requests.last { $0.line == PlacesBench.upload })
        #expect(upload.header("Authorization") == "Bearer utk_sandbox_9f2c")
    }

    @Test("a user whom the service does not name is no user: nothing is fetched or sent")
    func nameless() async throws {
        let bench = PlacesBench([PlacesBench.me: [.json(#"{"authentication_level":"none"}"#)]])
        let synchronizer = try bench.synchronizer()
        #expect(try await synchronizer.activate([id()]) == .failed)
        #expect(bench.ifttt.lines == [PlacesBench.me])
        #expect(await synchronizer.lastFailure?.code == "malformed_answer")
    }

    @Test("W19: a refused token is refused for every process, without a request, until another one is stored")
    func refusal() async throws {
        let bench = PlacesBench([PlacesBench.upload: [.status(401), .status(204)]])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        try await synchronizer.record(.exit, of: region, at: PlacesBench.now)
        await synchronizer.synchronize(.crossing)
        let (other, count) = (try bench.synchronizer(), bench.ifttt.requests.count)
        #expect(try await !other.isSignedIn)
        #expect(try await other.waitingReason == .signInRequired)
        #expect(await other.synchronize() == .noData)
        #expect(bench.ifttt.requests.count == count)
        #expect(await other.finishedEvents().contains(.signInRequired))
        bench.signIn("utk_another")
        #expect(try await other.isSignedIn)
        #expect(await synchronizer.synchronize(.crossing) == .newData)
        #expect(try bench.uploads.last?.count == 1)
        #expect(try await other.waitingReason == .notUploadedYet)
    }

    @Test("a sign-in that is noted ends what is another user's immediately")
    func notedSignIn() async throws {
        let bench = PlacesBench([
            PlacesBench.me: [.json(PlacesBench.user("edsger_i")), .json(PlacesBench.user("grace_h"))]
        ])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.noteSignIn()
        #expect(bench.ifttt.requests.isEmpty)
        try await synchronizer.activate([id()])
        try await synchronizer.record(.exit, of: region, at: PlacesBench.now)
        bench.signIn("utk_of_grace")
        try await bench.synchronizer().noteSignIn()
        #expect(try await synchronizer.waiting().isEmpty)
        #expect(try await synchronizer.regions.isEmpty)
    }

    @Test("a sign-in that gives the same token again is told by another process")
    func sameTokenAgain() async throws {
        let bench = PlacesBench([PlacesBench.upload: [.status(401), .status(204)]])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        try await synchronizer.record(.exit, of: region, at: PlacesBench.now)
        await synchronizer.synchronize(.crossing)
        try await bench.synchronizer().noteSignIn()
        #expect(await synchronizer.synchronize(.crossing) == .newData)
    }

    @Test("why crossings wait is known to every process: the last failure and its time")
    func reasons() async throws {
        let bench = PlacesBench([PlacesBench.upload: [.status(503), .status(204)]])
        let synchronizer = try bench.synchronizer { $0.retry = .none }
        try await synchronizer.activate([id()])
        try await synchronizer.record(.exit, of: region, at: PlacesBench.now)
        #expect(try await synchronizer.waitingReason == .notUploadedYet)
        bench.pass(7)
        #expect(await synchronizer.synchronize(.crossing) == .failed)
        let other = try bench.synchronizer()
        #expect(try await other.waitingReason == .failed(code: "service_error", at: PlacesBench.now + 7))
        await synchronizer.synchronize(.crossing)
        #expect(try await other.waitingReason == .notUploadedYet)
        #expect(
            await synchronizer.finishedEvents().contains(.synchronizationFailed(.service(.init(status: 503)))))
    }

    @Test("F089, F090: while sign-in is required another token is looked for each 10 seconds, and uploads what waits")
    func laterSignIn() async throws {
        let bench = PlacesBench([PlacesBench.upload: [.status(401), .status(204)]])
        let clock = ManualClock()
        let synchronizer = try bench.synchronizer(clock: clock)
        let id = try id()
        let task = Task { try await synchronizer.run(activating: [id]) }
        await clock.sleeper(of: .seconds(3_600))
        try await synchronizer.record(.exit, of: region, at: PlacesBench.now)
        await synchronizer.synchronize(.crossing)
        await clock.sleeper(of: .seconds(10))
        bench.signIn("utk_another")
        clock.advance(by: .seconds(10))
        await clock.sleeper(of: .seconds(3_600))
        #expect(try await synchronizer.waiting().isEmpty)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("F087, F090: what failed is tried again after a minute, then later and later")
    func failurePause() async throws {
        let bench = PlacesBench()
        let clock = ManualClock()
        let synchronizer = try bench.synchronizer(clock: clock) { $0.retry = .none }
        let id = try id()
        let task = Task { try await synchronizer.run(activating: [id]) }
        await clock.sleeper(of: .seconds(3_600))
        bench.ifttt.answer(PlacesBench.upload, .status(503), .status(503), .status(204))
        try await synchronizer.record(.exit, of: region, at: PlacesBench.now)
        await synchronizer.synchronize(.crossing)
        for pause in [60, 120] {
            await clock.sleeper(of: .seconds(pause))
            clock.advance(by: .seconds(pause))
        }
        await clock.sleeper(of: .seconds(3_600))
        #expect(try bench.uploads.count == 3)
        task.cancel()
    }

    @Test("a record of an earlier version, which knew no user, is read, and belongs to the user who is signed in")
    func earlierRecord() async throws {
        let bench = PlacesBench()
        let text = """
            {"installation":"I","entries":{"\(Balcony.id)":{"isSwitchedOn":true,"isWatched":true,"isEnabled":true,"fetchedAt":1,
            "triggers":[]}}}
            """
        try await bench.vault.update(VaultKey(.places, ["ifttt", "connections"])) {
            try await $0.replace(with: Array(text.utf8))
        }
        let synchronizer = try bench.synchronizer()
        try await synchronizer.record(.exit, of: region, at: PlacesBench.now)
        #expect(await synchronizer.synchronize() == .newData)
        #expect(try bench.uploads.joined().map { $0["installation_id"] } == ["I"])
    }

    @Test(
        "F081: what an account has in the vault is removed without a synchronizer, and nothing is made where there is nothing"
    )
    func forget() async throws {
        let bench = PlacesBench()
        let synchronizer = try bench.synchronizer()
        try await PlacesSynchronizer.forget("ifttt", in: bench.vault)
        #expect(try await bench.vault.keys(of: .places).keys.isEmpty)
        try await synchronizer.activate([id()])
        try await synchronizer.receive(fix(52.53, 0), now: nil)
        try await synchronizer.record(.exit, of: region, at: PlacesBench.now)
        try await PlacesSynchronizer.forget("ifttt", in: bench.vault)
        #expect(try await bench.vault.keys(of: .places).keys.isEmpty)
        #expect(try await bench.vault.keys(of: .crossings).keys.isEmpty)
    }
}
