#if Sandbox
import Foundation
import Mustache
import SandboxCore

/// The pages of IFTTT's site and app (IFTTT Connect dossier, sections 11.3 and 11.4).
struct FlowPages: Sendable {
    let pages: Pages

    /// What a page of an attempt is made of.
    struct Scene {
        let attempt: Attempt
        let step: Attempt.Step
        let formToken: String
        let origin: String
        /// What went wrong, or what just happened, in a sentence.
        var problem: String?
        /// What came back from the form of the same page.
        var form: FormParameters?
    }

    private struct Frame {
        let surface: String?
        let problem: String?
        let content: String
        let action: String
        let formToken: String
        let failures: [Failure]
        let hasFailures: Bool
    }

    private struct Failure {
        let value: String
        let text: String
    }

    /// The next page.
    func page(_ scene: Scene, in state: State) -> Answer {
        let view = view(of: scene, in: state)
        let isOver = scene.step == .done
        let failures =
            scene.attempt.returnURL == nil || isOver ? [] : Flow.Outcome.failures(on: scene.attempt.surface)
        let frame = Frame(
            surface: scene.attempt.surface == .app ? "IFTTT app" : nil, problem: scene.problem, content: view.content,
            action: "/flow/\(scene.attempt.id)", formToken: scene.formToken,
            failures: failures.map { Failure(value: $0.rawValue, text: $0.text) }, hasFailures: !failures.isEmpty)
        return pages.page(
            view.title, Template.flowFrame.render(frame), isWide: scene.step == .configure,
            formTargets: Pages.formTargets(redirect: scene.attempt.returnURL?.text ?? "urn:none"), style: view.style)
    }

    private struct View {
        let title: String
        let content: String
        var style = ""
    }

    private func view(of scene: Scene, in state: State) -> View {
        switch scene.step {
        case .signIn: signIn(scene)
        case .checkMail: checkMail(scene)
        case .identify: identify(scene, in: state)
        case .partner: service(scene, scene.attempt.connection.ownerID, isPartner: true, in: state)
        case .service(let id): service(scene, id, isPartner: false, in: state)
        case .configure: configure(scene, in: state)
        case .review: review(scene, in: state)
        case .view: summary(scene, in: state)
        case .failed(let reason): failed(scene, reason)
        case .done: View(title: "Done", content: Template.done.render(["name": scene.attempt.connection.name]))
        }
    }

    private struct SignIn {
        let action: String
        let formToken: String
        let connection: String
        let name: String
        let isWrong: Bool
        let canMail: Bool
        let people: [Person]
    }

    private struct Person {
        let login: String
        let email: String
        let password: String
    }

    private func signIn(_ scene: Scene) -> View {
        let view = SignIn(
            action: "/flow/\(scene.attempt.id)", formToken: scene.formToken, connection: scene.attempt.connection.name,
            name: scene.form?["name"] ?? scene.attempt.hint?.text ?? "", isWrong: scene.problem != nil,
            canMail: scene.attempt.hint != nil,
            people: Fixtures.accounts.map {
                Person(login: $0.login, email: $0.email, password: $0.password ?? "")
            })
        return View(title: "Sign in", content: Template.flowSignIn.render(view))
    }

    private struct CheckMail {
        let action: String
        let formToken: String
        let email: String
        let mailbox: String
        let clients: [MailClient]
    }

    private struct MailClient {
        let name: String
        let link: String?
    }

    private func checkMail(_ scene: Scene) -> View {
        let email = scene.attempt.hint?.text ?? ""
        let view = CheckMail(
            action: "/flow/\(scene.attempt.id)", formToken: scene.formToken, email: email,
            mailbox: "/mailbox?to=\(PercentCoding.encoded(email))",
            clients: scene.attempt.mailSchemes.map { scheme in
                let known = MailClients.known[scheme]
                return MailClient(name: known ?? scheme, link: known != nil && scheme.hasSuffix("://") ? scheme : nil)
            })
        return View(title: "Check your mail", content: Template.checkMail.render(view))
    }

    private struct Identify {
        let action: String
        let formToken: String
        let login: String
        let email: String
        let connection: String
        let verb: String
    }

    private func identify(_ scene: Scene, in state: State) -> View {
        let login = scene.attempt.login ?? ""
        let verbs: [Attempt.Action: String] = [
            .activation: "connect", .edit: "change the settings of", .view: "look at",
        ]
        let view = Identify(
            action: "/flow/\(scene.attempt.id)", formToken: scene.formToken, login: login,
            email: state.account(login: login)?.email ?? "", connection: scene.attempt.connection.name,
            verb: verbs[scene.attempt.action] ?? "")
        return View(title: "Is this you?", content: Template.identify.render(view))
    }

    private struct Service {
        let action: String
        let formToken: String
        let service: String
        let owner: String
        let connection: String
        let isPartner: Bool
        let features: [String]
    }

    private func service(_ scene: Scene, _ id: String, isPartner: Bool, in state: State) -> View {
        let connection = scene.attempt.connection
        let service = state.services[id]
        let own = connection.features.flatMap(\.capabilities).filter { $0.serviceID == id }
        let view = Service(
            action: "/flow/\(scene.attempt.id)", formToken: scene.formToken, service: service?.name ?? id,
            owner: state.services[connection.ownerID]?.name ?? "", connection: connection.name, isPartner: isPartner,
            features: own.map(\.label))
        return View(
            title: "Connect \(service?.name ?? id)", content: Template.service.render(view),
            style: Self.band(service?.safeBrandColor ?? "#000000"))
    }

    /// The rule for a band in a brand colour, with black or white on it, whichever has more contrast (WCAG 2.2).
    private static func band(_ color: String) -> String {
        let digits = Array(color.dropFirst())
        let light = stride(from: 0, to: 6, by: 2).map { place -> Double in
            let value = Double(Int(String(digits[place..<place + 2]), radix: 16) ?? 0) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        let luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
        return ".band{background:\(color);color:\(luminance > 0.179 ? "#000" : "#fff")}"
    }

    private struct Configure {
        let action: String
        let formToken: String
        let connection: String
        let verb: String
        let features: [ConfigurationForm.FeatureView]
    }

    private func configure(_ scene: Scene, in state: State) -> View {
        let attempt = scene.attempt
        let stored = attempt.login.flatMap { state.userConnection($0, attempt.connection) }?.features ?? []
        let form = ConfigurationForm(connection: attempt.connection, stored: stored, submitted: scene.form)
        let view = Configure(
            action: "/flow/\(attempt.id)", formToken: scene.formToken, connection: attempt.connection.name,
            verb: attempt.action == .edit ? "Save" : "Connect", features: form.views)
        return View(title: "Settings", content: Template.configure.render(view))
    }

    private struct Review {
        let action: String
        let formToken: String
        let connection: String
        let login: String
        let owner: String
    }

    private func review(_ scene: Scene, in state: State) -> View {
        let connection = scene.attempt.connection
        let view = Review(
            action: "/flow/\(scene.attempt.id)", formToken: scene.formToken, connection: connection.name,
            login: scene.attempt.login ?? "", owner: state.services[connection.ownerID]?.name ?? "")
        return View(title: "Turn on", content: Template.review.render(view))
    }

    private struct Summary {
        let action: String
        let formToken: String
        let connection: String
        let about: String
        let features: [Line]
        let canReturn: Bool
    }

    private struct Line {
        let title: String
        let note: String
    }

    private func summary(_ scene: Scene, in state: State) -> View {
        let connection = scene.attempt.connection
        let own = scene.attempt.login.flatMap { state.userConnection($0, connection) }
        let lines = connection.features.map { feature in
            let isOn = own?.features.contains { $0.featureID == feature.id && $0.isEnabled } == true
            return Line(title: feature.title, note: isOn ? "on" : "off")
        }
        let view = Summary(
            action: "/flow/\(scene.attempt.id)", formToken: scene.formToken, connection: connection.name,
            about: connection.description, features: lines, canReturn: scene.attempt.returnURL != nil)
        return View(title: "Connection", content: Template.summary.render(view))
    }

    private struct Failed {
        let action: String
        let formToken: String
        let reason: String
        let canReturn: Bool
    }

    private func failed(_ scene: Scene, _ reason: String) -> View {
        let view = Failed(
            action: "/flow/\(scene.attempt.id)", formToken: scene.formToken, reason: reason,
            canReturn: scene.attempt.returnURL != nil)
        return View(title: "Not connected", content: Template.failed.render(view))
    }

    /// The page for an address that no flow can begin with; never a redirect.
    func refusal(_ detail: String) -> Answer {
        pages.page(
            "Request rejected", Template.flowRefusal.render(["detail": detail]), status: 400)
    }

    /// The page for a form or address that is too old, finished, or of another browser.
    func stale() -> Answer {
        pages.page("Start again", Template.stale.render([:] as [String: String]), status: 410)
    }

    /// The page after a user closed the window, or when there is nowhere to return to.
    func closed() -> Answer {
        pages.page("Closed", Template.closed.render([:] as [String: String]))
    }
}

extension Flow.Outcome {
    /// The words on the button that asks for it.
    fileprivate var text: String {
        switch self {
        case .complete: "Success"
        case .completeWithoutToken: "Success without a token"
        case .accountCreation: "The account could not be made"
        case .authError: "A service could not be connected"
        case .error: "An error without a type"
        case .configurationCancelled: "Configuration cancelled"
        case .unknown: "An unknown next_step"
        case .nothing: "No next_step at all"
        case .verificationFailed: "Verification failed"
        case .connectionRequestFailed: "Connection request failed"
        }
    }
}

/// The mail clients that apps report (IFTTT Connect dossier, section 3.4).
enum MailClients {
    static let known = [
        "message://": "Mail", "googlegmail://": "Gmail", "ms-outlook://": "Outlook", "ymail://": "Yahoo Mail",
        "airmail://": "Airmail", "readdle-spark://": "Spark", "com.google.android.gm": "Gmail",
        "com.microsoft.office.outlook": "Outlook", "com.samsung.android.email.provider": "Samsung Email",
        "com.yahoo.mobile.client.android.mail": "Yahoo Mail",
    ]
}
#endif
