#if CommandLine
import Beacons
import Testing

@testable import HandshakeCLI
@testable import Nearby

@Suite("The settings of a circle as the command shows them")
struct CircleSettingsTests {
    private func summary(isPaused: Bool = false, mustJoinAgain: Bool = false) throws -> JoinedCircle.Summary {
        JoinedCircle.Summary(
            address: "https://circle.example/rc", circle: "Recurse Center", number: try UserNumber(1_234),
            name: "Ada Example", isPaused: isPaused, expires: 0, mustJoinAgain: mustJoinAgain, keysEnd: nil,
            isSilent: false, members: 2, nextSync: 0, tableProblem: nil, trouble: nil)
    }

    private func visibility(
        isOn: Bool = true, isTold: Bool, hasPhoto: Bool? = true, ignored: [UserNumber] = []
    ) -> JoinedCircle.Visibility {
        JoinedCircle.Visibility(
            photo: isOn, hasPhoto: hasPhoto, batch: isOn, waves: isOn, othersPhotos: true, hidden: [], ignored: ignored,
            isTold: isTold)
    }

    private func rows(
        isOn: Bool, isTold: Bool, hasPhoto: Bool? = true, isPaused: Bool = false, ignored: [UserNumber] = []
    ) throws -> [String: String] {
        let rows = CircleText.rows(
            try summary(isPaused: isPaused),
            visibility(isOn: isOn, isTold: isTold, hasPhoto: hasPhoto, ignored: ignored))
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    }

    @Test("CI57: what the server does not know yet is not said of members", arguments: [true, false])
    func unsent(isOn: Bool) throws {
        let (told, unsent) = (try rows(isOn: isOn, isTold: true), try rows(isOn: isOn, isTold: false))
        let word = isOn ? "on" : "off"
        for name in ["Photo", "Batch", "Waves"] {
            #expect(unsent[name] == "\(word); not sent to the circle's server yet")
        }
        let seen = isOn ? "on; members see it" : "off; members do not see it"
        #expect(told["Photo"] == seen && told["Batch"] == seen)
        #expect(told["Waves"] == (isOn ? "on; members can wave at you" : "off; no one can wave at you"))
    }

    @Test("CI57: what a pause means for members is said, and who can wave at the user then")
    func paused() throws {
        #expect(try rows(isOn: true, isTold: true)["Paused"] == "no")
        let told = try rows(isOn: true, isTold: true, isPaused: true)
        #expect(told["Paused"]?.contains("members stop recognising you") == true)
        #expect(told["Paused"]?.contains("They still see your name, and your photo and batch") == true)
        #expect(told["Waves"] == "on; no one can wave at you while you have paused")
        let unsent = try rows(isOn: true, isTold: false, isPaused: true)
        #expect(unsent["Paused"]?.contains("the circle's server does not know everything yet") == true)
        let wave = JoinedCircle.VisibilityChange(waves: true)
        func changed(isPaused: Bool) throws -> String {
            CircleText.changed(wave, try summary(isPaused: isPaused), visibility(isTold: true))
        }
        #expect(try changed(isPaused: true).hasSuffix("when the pause is over."))
        #expect(try !changed(isPaused: false).contains("pause"))
    }

    @Test("CI57: whom the user ignores is listed with the command that ends it, and what that does is said")
    func ignored() throws {
        #expect(try rows(isOn: true, isTold: true)["Ignored"] == "no one")
        let listed = try rows(isOn: true, isTold: true, ignored: [UserNumber(36), UserNumber(48)])["Ignored"]
        #expect(listed == "36, 48; end it with: handshake nearby circle unhide NUMBER")
        // The others saw the user all along.
        let told = CircleText.shown("Number 36", wasIgnored: true, .delivered)
        #expect(told == "Number 36 is no longer ignored. This device recognises a member again within six hours.")
        let untold = CircleText.shown("Number 36", wasIgnored: true, .pending)
        #expect(untold.contains("cannot be reached") && untold.contains("after the next synchronisation"))
        #expect(CircleText.shown("Number 36", .delivered).contains("see each other again"))
    }

    @Test("CI59: who hides without a network is told that nothing is sent until the circle's server is reached")
    func hidden() throws {
        let told = CircleText.hidden(JoinedCircle.Hiding(wasFriend: false, delivery: .delivered), from: "number 36")
        #expect(told == "In this circle, you and number 36 no longer see each other.")
        let untold = CircleText.hidden(JoinedCircle.Hiding(wasFriend: false, delivery: .pending), from: "number 36")
        #expect(untold.hasPrefix(told) && untold.contains("until then nothing is sent for the circle"))
    }

    @Test("CI59: who decides something after the sign-in has ended is told when the server hears of it")
    func signedOut() throws {
        let hiding = JoinedCircle.Hiding(wasFriend: false, delivery: .signedOut)
        let hidden = CircleText.hidden(hiding, from: "number 36")
        #expect(hidden.contains("learns of it when you join again; until then nothing is sent for the circle"))
        #expect(CircleText.paused(.signedOut).hasSuffix("your pause goes on when you join again."))
        #expect(CircleText.paused(.pending).hasSuffix("withdrawn at the next synchronisation."))
        for wasIgnored in [true, false] {
            let shown = CircleText.shown("Number 36", wasIgnored: wasIgnored, .signedOut)
            #expect(shown.hasSuffix("when you have joined again."))
        }
        let photo = JoinedCircle.VisibilityChange(photo: false)
        func changed(mustJoinAgain: Bool) throws -> String {
            CircleText.changed(photo, try summary(mustJoinAgain: mustJoinAgain), visibility(isTold: false))
        }
        #expect(try changed(mustJoinAgain: true).hasSuffix("gets the change when you join again."))
        #expect(try changed(mustJoinAgain: false).hasSuffix("gets the change at the next synchronisation."))
        #expect(CircleText.notAsked(try summary(mustJoinAgain: true)).hasPrefix("This device is signed out"))
    }

    @Test("CI59: who leaves is told what the circle's server knows, and after the sign-in has ended how to be removed")
    func left() {
        let address = "https://circle.example/rc"
        let told = CircleText.left(.delivered, address: address)
        #expect(told.hasPrefix("You have left the circle.") && !told.contains("server"))
        #expect(CircleText.left(.pending, address: address).hasSuffix("Until then you stay on its list."))
        let ended = CircleText.left(.signedOut, address: address)
        #expect(ended.contains("Its server does not know, because the sign-in had ended"))
        #expect(ended.contains("for at least 30 days after the sign-in of your last device has ended"))
        let commands = "handshake nearby circle join \(address) && handshake nearby circle leave --circle \(address)"
        #expect(ended.hasSuffix("To end that now, join again and leave: \(commands)"))
        #expect(CircleText.left(.signedOut).hasSuffix("To end that now, join again and leave."))
    }

    @Test("CI57: a photo that the circle does not have is not called visible")
    func missing() throws {
        let photo = try rows(isOn: true, isTold: true, hasPhoto: false)["Photo"]
        #expect(photo?.hasPrefix("on, but the circle has no photo") == true)
    }
}
#endif
