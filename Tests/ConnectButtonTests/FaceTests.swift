import Foundation
import Testing

@testable import ConnectButton

@Suite("What a state says")
struct FaceTests {
    static let connection = ConnectButtonConnection(
        id: "aB3dE5fG", url: URL(string: "https://ifttt.com/connections/aB3dE5fG"),
        primary: ConnectButtonService(
            name: "Lumen Garden", shortName: "Lumen", icon: nil, brand: ConnectButtonColor("#2b8a3e"), url: nil),
        connecting: ConnectButtonService(
            name: "Location Service", shortName: "Location", icon: nil, brand: ConnectButtonColor("#0099ff"), url: nil))

    private func face(
        _ step: ConnectButtonState.Step, _ failure: ConnectButtonFailure.Kind? = nil,
        in locale: ConnectButtonLocale = .americanEnglish,
        change: (inout ConnectButtonState) -> Void = { _ in }
    ) -> ConnectButtonFace {
        var state = ConnectButtonState(
            step, connection: Self.connection, email: "ada@example.com",
            failure: failure.map { ConnectButtonFailure($0) })
        change(&state)
        return ConnectButtonFace(state, in: locale)
    }

    private func plain(_ text: String) -> String { text.filter { $0 != "\u{2068}" && $0 != "\u{2069}" } }

    @Test("each step has its label")
    func labels() {
        let labels: [ConnectButtonState.Step: String] = [
            .hidden: "", .loading: "Loading…", .loadingFailed: "Connect", .connect: "Connect Location",
            .email: "Your email address", .verifying: "Verifying…", .creatingAccount: "Creating account…",
            .goingToService: "Going to Location Service", .connecting: "Connecting…", .connected: "Connected",
            .pending: "Finish setup", .confirmDisconnect: "Disconnect Location?", .disconnecting: "Disconnecting…",
            .disconnected: "Disconnected",
        ]
        #expect(labels.count == ConnectButtonState.Step.allCases.count)
        for (step, label) in labels { #expect(plain(face(step).label) == label) }
    }

    @Test(
        "F058: without its services the button says Connect and nothing after it",
        arguments: ConnectButtonLocale.allCases)
    func unknownServices(_ locale: ConnectButtonLocale) {
        let label = face(.connect, in: locale) { $0.connection = nil }.label
        #expect(!label.isEmpty && label == plain(label))
        #expect(locale != .americanEnglish || label == "Connect")
    }

    @Test("the switch's name begins with its label and tells which service")
    func names() {
        #expect(plain(face(.connected).name) == "Connected, Location")
        #expect(plain(face(.connect).name) == "Connect Location")
        for step in ConnectButtonState.Step.allCases { #expect(face(step).name.hasPrefix(face(step).label)) }
    }

    @Test("a failure is said in the footer with what to do next", arguments: ConnectButtonFailure.Kind.allCases)
    func failures(_ kind: ConnectButtonFailure.Kind) {
        let face = face(.connect, kind)
        #expect(face.footer == [TextRun(kind.text(in: .americanEnglish))])
        #expect(face.tone == (kind == .cancelled ? .plain : .error))
        #expect(face.actions.map(\.kind) == (kind.isRetryable ? [.retry, .about] : [.about]))
        #expect(face.announcement == kind.text(in: .americanEnglish))
    }

    @Test("failures to load are told apart, and only those that can pass offer a retry")
    func loadingFailures() {
        #expect(face(.loadingFailed, .offline).footer != face(.loadingFailed, .unknownConnection).footer)
        #expect(face(.loadingFailed, .offline).actions.map(\.kind) == [.retry])
        #expect(face(.loadingFailed, .unknownConnection).actions.isEmpty)
    }

    @Test("learn more is offered once at the email field, also beside an error")
    func email() {
        #expect(face(.email).actions.map(\.kind) == [.about])
        #expect(face(.email).footer.map(\.text).joined() == "Secured by IFTTT.")
        #expect(face(.email, .invalidEmail).actions.map(\.kind) == [.about])
        #expect(face(.email, .invalidEmail).tone == .error)
        #expect(face(.email, .unavailable).actions.map(\.kind) == [.about], "confirming again is the retry")
        // As in the activation: a user who is asked can decline.
        #expect(face(.email) { $0.isCancellable = true }.actions.map(\.kind) == [.cancel, .about])
    }

    @Test("the account's address is named, and a word mark in it is not one")
    func account() {
        let face = face(.creatingAccount) { $0.email = "IFTTT@example.com" }
        #expect(plain(face.footer.map(\.text).joined()) == "IFTTT is creating an account for IFTTT@example.com.")
        #expect(face.footer.filter { $0.style == .mark }.count == 1)
    }

    @Test("F019: on the way to the service the footer names the account that is made there")
    func accountOnTheWay() {
        let face = face(.goingToService) { $0.email = "IFTTT@example.com" }
        #expect(plain(face.footer.map(\.text).joined()) == "IFTTT is creating an account for IFTTT@example.com.")
        #expect(face.footer.filter { $0.style == .mark }.count == 1)
        #expect(self.face(.goingToService) { $0.email = nil }.footer == [TextRun("Finish there, then come back here.")])
    }

    @Test(
        "F046, 4.4: the About page is reachable wherever the footer takes input, by the footer or by an action",
        arguments: ConnectButtonState.Step.allCases)
    func aboutReachable(_ step: ConnectButtonState.Step) {
        let steps: [ConnectButtonState.Step] = [
            .connect, .email, .verifying, .creatingAccount, .goingToService, .connected, .pending,
        ]
        for failure in [nil, ConnectButtonFailure.Kind.interrupted] {
            let face = face(step, failure)
            let isAction = face.actions.map(\.kind).contains(.about)
            #expect(isAction == (steps.contains(step) && face.tone != .lead))
        }
        #expect(ConnectButtonFace(ConnectButtonState(.pending), in: .german).actions.isEmpty, "nothing is known yet")
    }

    @Test("disconnecting asks with two answers, or says how long it can be undone")
    func disconnecting() {
        #expect(face(.confirmDisconnect).choices.map(\.kind) == [.disconnect, .keep])
        #expect(face(.connected).choices.isEmpty)
        let undone = face(.disconnecting) { $0.undo = ConnectButtonUndo(remaining: 4.2, total: 8) }
        #expect(undone.actions.map(\.kind) == [.undo])
        #expect(undone.footer.map(\.text).joined() == "You can undo this for 5 seconds.")
        #expect(undone.announcement.hasSuffix("You can undo this for 5 seconds."))
    }

    @Test("what can be ended offers to end it")
    func cancelling() {
        #expect(face(.verifying) { $0.isCancellable = true }.actions.map(\.kind) == [.cancel])
        #expect(face(.verifying).actions.isEmpty)
    }

    @Test("a drag shows what is to come: asking, not disconnecting, unless the state says otherwise")
    func toggled() {
        #expect(face(.connect).toggled == "Verifying…")
        #expect(face(.connect) { $0.next = .email }.toggled == "Your email address")
        #expect(plain(face(.connected).toggled) == "Disconnect Location?")
        #expect(face(.connected) { $0.next = .disconnecting }.toggled == "Disconnecting…")
    }

    @Test(
        "the About page has title, four benefits and a legal line with one link",
        arguments: ConnectButtonLocale.allCases)
    func about(_ locale: ConnectButtonLocale) throws {
        let about = try #require(face(.connect, in: locale).about)
        #expect(about.benefits.count == 4)
        #expect(about.title.filter { $0.style == .mark }.count == 1)
        #expect(about.legal.filter { $0.style == .link }.count == 1)
        #expect(about.legal.filter { $0.style == .link }.map(\.text) == [ConnectButtonWords.legalLink.text(in: locale)])
        #expect(about.legal.count >= 2)
    }

    @Test("two buttons speak two locales")
    func perButton() {
        #expect(plain(face(.connect, in: .german).label) == "Mit Location verbinden")
        #expect(plain(face(.connect, in: .japanese).label) == "Locationと接続")
    }
}
