import Beacons
import Handshake
import OAuth
import Radio
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeCLI
@testable import Nearby

@Suite("What the companion's page shows")
struct CompanionStateTests {
    private let state = CompanionState()
    private let zoe: UserNumber
    private let ada: UserNumber

    init() throws {
        zoe = try UserNumber(7)
        ada = try UserNumber(8)
    }

    @Test("a reading that began earlier does not replace one that began later")
    func order() async throws {
        let (early, late) = (state.beginReading(), state.beginReading())
        state.show(CircleReading(waiting: [zoe]), of: late)
        state.show(CircleReading(waiting: [ada]), of: early)
        #expect(try await shown().contains(#""waiting":[7]"#))
    }

    @Test("what was read before a person was forgotten is not shown after it")
    func forgetting() async throws {
        let reading = state.beginReading()
        state.forget(nil)
        state.show(CircleReading(waiting: [ada]), of: reading)
        #expect(try await shown().contains(#""waiting":[]"#))
        state.show(CircleReading(waiting: [zoe]), of: state.beginReading())
        #expect(try await shown().contains(#""waiting":[7]"#))
    }

    @Test("CI57: who is hidden has the name that the log still has, and none after the person is forgotten")
    func hiddenNames() async throws {
        let summary = JoinedCircle.Summary(
            address: "https://circle.example/rc", circle: "Recurse Center", number: zoe, name: "Zoë", isPaused: false,
            expires: 0, mustJoinAgain: false, keysEnd: nil, isSilent: false, members: 2, nextSync: 0,
            tableProblem: nil, trouble: nil)
        let visibility = JoinedCircle.Visibility(
            photo: true, hasPhoto: true, batch: true, waves: true, othersPhotos: true,
            hidden: [ada, try UserNumber(9)], ignored: [try UserNumber(10), try UserNumber(11)], isTold: true)
        let circles = CircleReading(
            joined: [(summary, visibility)], names: [ada: "Ada Example", try UserNumber(10): "Eve Example"])
        state.show(circles, of: state.beginReading())
        #expect(try await shown().contains(#""hidden":[8,9]"#))
        #expect(try await shown().contains(#""hidden_names":{"8":"Ada Example"}"#))
        // Whom the user ignores may have been met as another circle's member.
        #expect(try await shown().contains(#""ignored":[10,11]"#))
        #expect(try await shown().contains(#""ignored_names":{"10":"Eve Example"}"#))
        state.forget(ada)
        #expect(try await shown().contains(#""hidden_names":{}"#))
        #expect(try await shown().contains(#""hidden":[8,9]"#))
        state.show(circles, of: state.beginReading())
        state.forget(nil)
        #expect(!(try await shown().contains("Ada Example")))
        #expect(!(try await shown().contains("Eve Example")))
    }

    @Test("BE-17: why nothing is sent is on the page with the cure, until something is sent or nothing is wanted")
    func silence() async throws {
        state.noteSilence(.noCurrentKeys)
        #expect(try await shown().contains(#""send":"silent""#))
        #expect(try await shown().contains("no friend or circle has your current keys. Join a circle under"))
        state.noteSilence(.paused)
        #expect(try await shown().contains("Others cannot notice you: you have paused. To go on, press Resume"))
        #expect(!(try await shown().contains("current keys")))
        state.note(.sending(.sending))
        #expect(try await shown().contains(#""troubles":[]"#))
        state.noteSilence(.paused)
        state.noteSilence(nil)
        #expect(try await shown().contains(#""troubles":[]"#))
        // There is something to send then, and another reason why it is not sent.
        state.noteSilence(.noCurrentKeys)
        state.note(.sendingFailed(.refused(operation: "sending", reason: "no instances")))
        let page = try await shown()
        #expect(!page.contains("not_sent") && page.contains("no instances"), "\(page)")
    }

    @Test("CI59: the page says since when others in a circle cannot notice the user, and how to sign in again")
    func keysEnded() async throws {
        func summary(mustJoinAgain: Bool, isSilent: Bool = true) -> JoinedCircle.Summary {
            JoinedCircle.Summary(
                address: "https://circle.example/rc", circle: "Hub", number: zoe, name: "Zoë", isPaused: false,
                expires: 0, mustJoinAgain: mustJoinAgain, keysEnd: 1_767_571_200, isSilent: isSilent, members: 2,
                nextSync: 0, tableProblem: nil, trouble: nil)
        }
        let since = "Since \(Moment.text(1_767_571_200)) others in Hub cannot notice you: "
        let ended = summary(mustJoinAgain: true)
        let sentence = try #require(CircleText.silence(of: ended, isOnPage: true))
        #expect(
            sentence
                == "\(since)this device is signed out of it. To sign in again, join it under Circles: https://circle.example/rc"
        )
        #expect(
            CircleText.silence(of: ended)
                == "\(since)this device is signed out of it. To sign in again, run: handshake nearby circle join https://circle.example/rc"
        )
        #expect(
            CircleText.silence(of: summary(mustJoinAgain: false))
                == "\(since)your keys are not published. To publish them now, run: handshake nearby circle sync")
        #expect(
            CircleText.silence(of: summary(mustJoinAgain: false), isOnPage: true)
                == "\(since)your keys are not published. To publish them now, press Fetch the table under Circles")
        #expect(CircleText.silence(of: summary(mustJoinAgain: false, isSilent: false)) == nil)
        let visibility = JoinedCircle.Visibility(
            photo: true, hasPhoto: true, batch: true, waves: true, othersPhotos: true, hidden: [], ignored: [],
            isTold: true)
        state.noteSilence(.keysEnded(sentence))
        state.show(CircleReading(joined: [(ended, visibility)]), of: state.beginReading())
        let page = try await shown()
        #expect(page.contains(#""send":"silent""#) && page.contains(#""code":"not_sent","message":"Since "#), "\(page)")
        #expect(page.contains(#""silence":"Since "#), "\(page)")
        state.show(
            CircleReading(joined: [(summary(mustJoinAgain: false, isSilent: false), visibility)]),
            of: state.beginReading())
        #expect(try await shown().contains(#""silence":null"#))
    }

    @Test("BE-17: what of the vault cannot be used is on the page")
    func damage() async throws {
        state.note(trouble: "own_number_unknown", "Your own number is not known yet")
        #expect(try await shown().contains(#""message":"Your own number is not known yet""#))
    }

    @Test("BE-17: that the own number is unknown is on the page until it is known")
    func ownNumber() async throws {
        state.note(trouble: "own_number_unknown", "Your own number is not known yet")
        state.set(own: nil)
        #expect(try await shown().contains(#""code":"own_number_unknown""#))
        state.set(own: zoe)
        #expect(try await shown().contains(#""troubles":[]"#))
    }

    @Test("BE-17: why nothing is sent stays on the page, however much happens meanwhile")
    func silenceStays() async throws {
        state.noteSilence(.paused)
        for number in 1...6 { state.note(trouble: "other_\(number)", "Something happened") }
        let page = try await shown()
        #expect(page.contains(#""code":"not_sent""#) && page.contains(#""code":"other_6""#))
        #expect(page.contains(#""code":"other_3""#) && !page.contains(#""code":"other_2""#))
        state.noteSilence(nil)
        #expect(!(try await shown().contains("not_sent")))
    }

    @Test("the page learns whether what is sent is a number that never changes")
    func mode() async throws {
        #expect(try await shown().contains(#""mode":"rolling""#))
        var snapshots = CompanionState(sendsNumber: true).snapshots().makeAsyncIterator()
        let first = await snapshots.next()
        #expect(first?.contains(#""mode":"static""#) == true)
    }

    @Test("of two attempts to join, the one that ends takes its own code away and leaves the other's")
    func joins() async throws {
        let first = state.beginJoining(code: "AAAA", page: "https://one.example") { _ in }
        let second = state.beginJoining(code: "BBBB", page: "https://two.example") { _ in }
        state.endJoining(first)
        #expect(try await shown().contains(#""joining":{"code":"BBBB""#))
        state.endJoining(second)
        #expect(try await shown().contains(#""joining":null"#))
    }

    @Test("CI49: who forgets everyone on the page while an attempt to join waits is in no circle afterwards")
    func forgetsWhileJoining() async throws {
        let vault = MemoryVault()
        let isOver = Mutex(false)
        state.beginJoining(code: "AAAA", page: "https://one.example") { [state] attempt in
            // The user agrees in the browser just then.
            try? await waitForCancellation()
            try? await vault.replace(VaultKey(.circle, [NearbyCommand.community, "00", "state"]), with: [1])
            isOver.withLock { $0 = true }
            state.endJoining(attempt)
        }
        let page = CompanionActions(vault: vault, state: state, stop: {})
        _ = try await page.perform(["do": .string("forget everyone")])
        let hasEnded = isOver.withLock(\.self)
        #expect(hasEnded)
        #expect(try await vault.keys(of: .circle).keys.isEmpty)
        #expect(try await shown().contains(#""joining":null"#))
        await state.cancelJoining()
    }

    @Test("of changes that come at the same time, the last one is what a reader gets last")
    func concurrentChanges() async throws {
        for _ in 0..<3_000 {
            var snapshots = state.snapshots().makeAsyncIterator()
            await withTaskGroup(of: Void.self) { group in
                for number in [zoe, ada, zoe, ada, zoe, ada] { group.addTask { [state] in state.set(own: number) } }
            }
            // A reader that is late gets the newest.
            #expect(await snapshots.next() == (try await shown()))
            state.set(own: nil)
        }
    }

    @Test("CI20: the page is told whose face it may show", arguments: Trust.allCases)
    func faces(trust: Trust) async throws {
        let person = NearbyPerson(
            person: ada, known: nil, distance: nil, proximity: .near,
            encounter: Encounter(firstSeen: 0, lastSeen: 90, duration: 90), trust: trust)
        state.note(.people([person]))
        let isShown = trust == .circle || trust == .paired
        #expect(try await shown().contains(#""trust":"\#(trust.word)","shows_face":\#(isShown)"#))
    }

    @Test("the page says as the terminal does that one device sends for several people")
    func oneTransmitter() async throws {
        state.note(.oneTransmitter)
        let sentence = "One device sends the identifiers of several people. They are listed, but not announced."
        #expect(try await shown().contains(#""code":"one_transmitter","message":"\#(sentence)""#))
    }

    @Test("the page says as the terminal does which list is full, and that another device repeats the own signal")
    func remarks() async throws {
        let remarks: [(NearbyUpdate, String)] = [
            (
                .full(.unverified, places: 512, leftOut: 40),
                "The list is full (512 unverified people). Others are not added."
            ),
            (.full(.circle, places: 1_280, leftOut: 1), "The list is full (1280 members). Others are not added."),
            (.full(.paired, places: 256, leftOut: 1), "The list is full (256 friends). Others are not added."),
            (.repeatedSignal, "Another device repeats your signal."),
        ]
        for (update, sentence) in remarks {
            #expect(update.trouble?.message == sentence)
            state.note(update)
            #expect(try await shown().contains(#""message":"\#(sentence)""#))
        }
    }

    private func shown() async throws -> String {
        var snapshots = state.snapshots().makeAsyncIterator()
        return try #require(await snapshots.next())
    }
}
