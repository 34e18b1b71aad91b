import FileSelector
import Foundation
import Handshake
import OAuth
import Observation
import Sequencing

/// What the app knows and does: the account, the chosen file, the forecast, and an import.
///
/// It has no part of a device, so that it runs and is tested on every system.
@MainActor @Observable
final class WeatherModel {
    /// What the device gives.
    struct Device: Sendable {
        let client: @Sendable () throws -> Client
        let vault: @Sendable () async throws -> any Vault
        let browser: @MainActor @Sendable () -> any Browser
        let choices: KeptChoice.Store
        var genome: @Sendable (Account) -> Sequencing = { Sequencing($0) }
        /// Asks for the copy of a file; nil where the app has neither a server nor the client's secret.
        var copy: (@Sendable (ConnectRequest) async throws -> ConnectDelivery.Outcome)?
    }

    enum Step {
        case opening
        case signedOut
        case signedIn(Sequencing)
        case failed(String)
    }

    private(set) var step = Step.opening
    private(set) var userName: String?
    private(set) var selector: FileSelectorModel?
    private(set) var report: WeatherReport?
    private(set) var genes: Genes?
    /// The user's imports. They outlast the sheet.
    private(set) var importing: ImportModel?
    private(set) var isAsking = false
    /// Whether the user is at the sign-in page, or the service's answer is awaited.
    private(set) var isSigningIn = false
    /// Whether the session has ended: nothing is asked until the user signs in again.
    private(set) var needsSignIn = false
    /// What went wrong last, for the user.
    private(set) var problem: String?
    var placeName = ""
    /// The user's choice, kept across launches.
    private(set) var choice: RememberedChoice?

    private(set) var places: [Place] = []
    private let device: Device
    private var table: AdviceTable?
    private var opened: (handshake: Handshake, vault: any Vault)?
    /// The last sign-in.
    @ObservationIgnored private var signingIn: Task<Account, any Error>?
    /// Who is signed in; nil when the service did not say.
    @ObservationIgnored private var subject: String?
    /// Counts users: what was asked for one of them is not shown to another.
    @ObservationIgnored private var visits = 0
    /// Counts requests for advice: only the last one's answer is shown.
    @ObservationIgnored private var looks = 0
    /// The questions to the chains that wait for their answers, by the files that they are about.
    @ObservationIgnored private var asking: [FileID: Task<Genes, any Error>] = [:]
    /// What the chains found in the user's files, as far as they have answered.
    @ObservationIgnored private var answers: [FileID: Genes] = [:]

    init(_ device: Device) {
        self.device = device
    }

    private var place: Place? { places.first { $0.name == placeName } }

    /// The alert in force at the place, also while the chains run and where the session has ended; nil without one.
    var warning: String? { place.flatMap { table?.warning(at: $0, for: genes) } }

    /// Asks for accounts and new passwords.
    func registration() throws -> RegistrationModel {
        let client = try device.client()
        return RegistrationModel(Registration(.identifier(client.id), at: Sequencing.Hosts(of: client.service)))
    }

    /// Whether the app can ask for the copy of a file.
    var canCopy: Bool { device.copy != nil }

    /// Copies a file from the web into an account; nil where the app cannot ask for it.
    func copying() -> CopyingModel? {
        device.copy.map { CopyingModel(deliver: $0) }
    }

    func open() async {
        do {
            table = try .builtIn()
            places = try ForecastTable.builtIn().places
            placeName = places.first?.name ?? ""
            let vault = try await device.vault()
            let handshake = try Handshake(device.client(), vault: vault)
            opened = (handshake, vault)
            guard let account = try await handshake.account() else {
                step = .signedOut
                return
            }
            await enter(account, isNew: false)
        } catch {
            step = .failed("\(error)")
        }
    }

    /// Signs in. A second tap does not begin a second sign-in.
    func signIn() async {
        guard let opened, !isSigningIn else { return }
        problem = nil
        do {
            await enter(try await account(through: opened.handshake), isNew: true)
        } catch HandshakeError.signInAbandoned, is CancellationError {
            // The user's own choice needs no message.
        } catch {
            problem = "\(error)"
        }
    }

    /// Cancels the sign-in that is under way, also after its page has closed.
    func cancelSignIn() {
        signingIn?.cancel()
    }

    private func account(through handshake: Handshake) async throws -> Account {
        isSigningIn = true
        defer { isSigningIn = false }
        let browser = device.browser()
        let signingIn = Task { try await handshake.signIn(through: browser) }
        self.signingIn = signingIn
        return try await signingIn.value
    }

    /// - Parameter isNew: whether the user has just signed in, perhaps in another's place.
    private func enter(_ account: Account, isNew: Bool) async {
        let (earlier, imports, known) = (subject, importing, answers)
        leave()
        let visit = visits
        let identity = try? await account.identity()
        // What is unfinished is found by the account's name, which all users of this device share.
        let isSame = earlier != nil && identity?.subject == earlier
        if !isSame { imports?.stop() }
        if isNew, !isSame { await forgetUnfinished(account) }
        guard visit == visits, let opened else { return }
        if isSame { answers = known }
        (subject, userName) = (identity?.subject, identity?.name)
        choice = device.choices.choice(of: subject)
        let genome = device.genome(account)
        let selector = FileSelectorModel(genome, remembered: choice)
        selector.onForget = { [weak self] in self?.forgetChoice() }
        self.selector = selector
        importing = isSame ? imports : ImportModel(genome, vault: opened.vault)
        step = .signedIn(genome)
        // Asking who the user is may have been what ended the session.
        if case .ended = account.status.state { needsSignIn = true }
        if choice != nil { await look() }
    }

    /// Forgets what is shown of a user. Another may sign in.
    private func leave() {
        visits += 1
        looks += 1
        (asking, answers) = ([:], [:])
        step = .opening
        (isAsking, needsSignIn, problem) = (false, false, nil)
        (choice, report, genes, selector, userName, subject, importing) = (nil, nil, nil, nil, nil, nil, nil)
    }

    func choose(_ file: GeneticFile) async {
        guard case .signedIn = step else { return }
        choice = RememberedChoice(file)
        // Advice for another file's genes must not stand under this one's name, whatever follows.
        (genes, report) = (nil, nil)
        device.choices.keep(choice, of: subject)
        await look()
    }

    /// Forgets the choice for later launches. The advice on the screen stays until the user leaves.
    private func forgetChoice() {
        device.choices.keep(nil, of: subject)
    }

    /// Loads the user's files again when the selector opens: an import or another device may have added some.
    func openSelector() async {
        await selector?.load()
    }

    /// Runs the two chains, and reads the forecast by what they find.
    ///
    /// Where the session has ended, no page opens unasked: ``needsSignIn`` says so, and the user signs in.
    func look() async {
        guard case .signedIn(let genome) = step, let choice, let table, let place else { return }
        (isAsking, needsSignIn, problem) = (true, false, nil)
        looks += 1
        let look = looks
        do {
            let genes = try await ask(genome, about: choice.id)
            // The user has chosen another file or place meanwhile, or signed out.
            guard look == looks else { return }
            self.genes = genes
            report = WeatherReport(place, for: genes, by: table)
        } catch SequencingError.account(.signInRequired) {
            guard look == looks else { return }
            needsSignIn = true
        } catch {
            guard look == looks else { return }
            problem = "\(error)"
        }
        isAsking = false
    }

    /// Asks the chains about a file, once for each user: each question starts the chains. A failure is asked again.
    private func ask(_ genome: Sequencing, about file: FileID) async throws -> Genes {
        if let known = answers[file] { return known }
        let visit = visits
        let answer: Task<Genes, any Error>
        if let running = asking[file] {
            answer = running
        } else {
            answer = Task { try await Genes.ask(genome, about: file) }
            asking[file] = answer
        }
        defer { if asking[file] == answer { asking[file] = nil } }
        let genes = try await answer.value
        // Another user may have signed in meanwhile.
        if visit == visits, genes.error == nil { answers[file] = genes }
        return genes
    }

    /// Signs out.
    ///
    /// Removes the user's data from the device immediately, even when the service cannot be reached.
    func signOut() async {
        guard let opened else { return }
        device.choices.keep(nil, of: nil)
        importing?.stop()
        leave()
        var isTold = true
        do {
            if let account = try await opened.handshake.account() {
                await forgetUnfinished(account)
                isTold = try await account.signOut().isForgotten
            }
        } catch {
            isTold = false
        }
        if !isTold {
            problem = "Signed out here. Sequencing.com could not be notified."
            do { try await opened.handshake.forget() } catch { problem = "\(error)" }
        }
        step = .signedOut
    }

    private func forgetUnfinished(_ account: Account) async {
        guard let vault = opened?.vault else { return }
        try? await UnfinishedImports.forget(account.id, in: vault)
        try? await UnfinishedJobs.forget(account.id, in: vault)
    }
}
