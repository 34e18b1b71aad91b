import Foundation
import Handshake
import OAuth
import Observation
import Sequencing

/// The imports of one user from 23andMe or Ancestry. The password is held during one request only.
///
/// It outlasts the view that shows it: a question that waits for its answer is there when the view comes back.
@MainActor @Observable
final class ImportModel {
    enum Step: Sendable {
        case credentials
        case question(ThirdPartyImport.SecurityQuestion)
        case link(ThirdPartyImport.AncestrySession)
        case asking
        case running(UnfinishedImport)
        case done(GeneticFile)
        /// Several imports ran, and nothing shows which of these files is this one's.
        case oneOf([GeneticFile])
        case late(UnfinishedImport)

        /// The import whose file it waits for, or has waited for.
        var awaited: UnfinishedImport? {
            switch self {
            case .running(let started), .late(let started): started
            default: nil
            }
        }
    }

    private(set) var step = Step.credentials
    private(set) var problem: String?
    /// Files of imports that ended while the user was at another one.
    private(set) var arrived: [GeneticFile] = []
    /// The same where nothing shows which of several files is the import's: the files of each such import.
    private(set) var uncertain: [[GeneticFile]] = []
    /// The imports whose files have not come, also those of an earlier launch.
    private(set) var left: [UnfinishedImport] = []
    var source = ThirdPartyImport.Source.twentyThreeAndMe
    var login = ""
    var password = ""
    var answer = ""

    private let imports: ThirdPartyImport
    private let unfinished: UnfinishedImports
    /// The login and the source of the import that a question or a link is for.
    @ObservationIgnored private var asked: (source: ThirdPartyImport.Source, login: String)
    /// Counts what the user began: the end of an earlier import does not replace a question of a later one.
    @ObservationIgnored private var attempts = 0
    /// The waits for imports' files, by the imports' keys.
    @ObservationIgnored private var waits: [String: Task<ImportArrival, any Error>] = [:]

    private enum Answer: Sendable {
        case next(Step)
        case ended(ThirdPartyImport.Outcome, UnfinishedImport?)
    }

    /// - Parameters:
    ///   - genome: the user's account.
    ///   - vault: has the imports that have not ended.
    init(_ genome: Sequencing, vault: any Vault) {
        imports = ThirdPartyImport(genome)
        unfinished = UnfinishedImports(of: genome, in: vault)
        asked = (.twentyThreeAndMe, "")
    }

    /// Goes back to the login. An import that runs goes on.
    func restart() {
        if case .asking = step { return }
        attempts += 1
        (step, problem, answer) = (.credentials, nil, "")
    }

    /// Reads which imports' files have not come.
    func look() async {
        do { left = try await unfinished.all } catch { problem = "\(error)" }
    }

    /// Reads which imports' files have not come, and looks once for those that no wait follows.
    func open() async {
        await look()
        // It may be given up, or the user may leave, while another one is looked for.
        for late in left where waits[late.key] == nil && left.contains(where: { $0.key == late.key }) {
            let wait = Task { [unfinished] in try await unfinished.arrival(of: late, polling: Polling(timeout: .zero)) }
            waits[late.key] = wait
            let arrival = try? await wait.value
            guard waits.removeValue(forKey: late.key) != nil else { continue }
            let attempt = step.awaited?.key == late.key ? attempts : nil
            switch arrival {
            case .file(let file)?: show((.done(file), nil), attempt)
            case .oneOf(let files)?: show((.oneOf(files), nil), attempt)
            case .late?, nil: continue
            }
            await look()
        }
    }

    /// Gives up an import whose file will not come.
    func giveUp(_ lost: UnfinishedImport) async {
        // A wait that goes on could take another import's file for this one's.
        let wait = waits[lost.key]
        wait?.cancel()
        switch try? await wait?.value {
        case .file?, .oneOf?: return  // It has come first, and is shown.
        default: waits[lost.key] = nil
        }
        problem = nil
        do { try await unfinished.forget(lost) } catch { problem = "\(error)" }
        if step.awaited?.key == lost.key { step = problem == nil ? .credentials : .late(lost) }
        await look()
    }

    /// Ends all waits. Another user may sign in.
    func stop() {
        for wait in waits.values { wait.cancel() }
        (waits, left) = ([:], [])
    }

    /// Starts with the user's login at the third party.
    func start() async {
        guard case .credentials = step else { return }
        asked = (source, login)
        let given = Secret(password)
        password = ""
        await attempt(returningTo: .credentials) { [imports, unfinished, asked] in
            let credentials = try ThirdPartyImport.Credentials(login: asked.login, password: given)
            switch asked.source {
            case .twentyThreeAndMe:
                let (answer, started) = try await unfinished.noting(asked.source, login: asked.login) {
                    try await imports.from23andMe(credentials)
                }
                switch answer {
                case .question(let question): return .next(.question(question))
                case .ended(let outcome): return .ended(outcome, started)
                }
            case .ancestry:
                switch try await imports.authorizeAncestry(credentials) {
                case .linkMailed(let session): return .next(.link(session))
                case .ended(let outcome): return .ended(outcome, nil)
                }
            }
        }
    }

    /// Goes on with the answer to the question, or with the link from the mail. One that cannot be sent can be sent again.
    func proceed() async {
        let (waiting, text) = (step, answer)
        switch waiting {
        case .question, .link: answer = ""
        default: return
        }
        let isSent = await attempt(returningTo: waiting) { [imports, unfinished, asked] in
            let (outcome, started) = try await unfinished.noting(asked.source, login: asked.login) {
                switch waiting {
                case .question(let question): try await imports.answer(text, to: question)
                case .link(let session): try await imports.download(text, in: session)
                default: .badAnswer
                }
            }
            return .ended(outcome, started)
        }
        if !isSent { answer = text }
    }

    /// Runs one request, and follows the import that it starts.
    ///
    /// - Returns: whether the service answered.
    @discardableResult
    private func attempt(returningTo before: Step, _ body: @Sendable () async throws -> Answer) async -> Bool {
        attempts += 1
        (step, problem) = (.asking, nil)
        do {
            switch try await body() {
            case .next(let next): step = next
            case .ended(.started, let started?): await follow(started, attempts)
            case .ended(let outcome, _): (step, problem) = (.credentials, outcome.problem)
            }
            return true
        } catch {
            (step, problem) = (before, "\(error)")
            // An import whose answer was lost may run.
            await look()
            return false
        }
    }

    /// Waits until the import's own file is in the list.
    private func follow(_ started: UnfinishedImport, _ attempt: Int) async {
        step = .running(started)
        let polling = Polling(firstInterval: .seconds(1), maximumInterval: .seconds(5), timeout: .seconds(600))
        let wait = Task { [unfinished] in try await unfinished.arrival(of: started, polling: polling) }
        waits[started.key] = wait
        await look()
        let end: (step: Step, problem: String?)
        do {
            switch try await wait.value {
            case .file(let file): end = (.done(file), nil)
            case .oneOf(let files): end = (.oneOf(files), nil)
            case .late: end = (.late(started), nil)
            }
        } catch {
            end = (.late(started), wait.isCancelled ? nil : "\(error)")
        }
        // It was given up, or the user has left.
        guard waits.removeValue(forKey: started.key) != nil else { return }
        show(end, attempt)
        await look()
    }

    /// Shows how an import ended, or reports it beside another one that is shown.
    private func show(_ end: (step: Step, problem: String?), _ attempt: Int?) {
        guard attempt == attempts else {
            switch end.step {
            case .done(let file): arrived.append(file)
            case .oneOf(let files): uncertain.append(files)
            default: break
            }
            return
        }
        (step, problem) = end
    }
}

extension UnfinishedImport {
    /// Tells the import from all others of the account. A number alone is used again when the list was empty.
    var key: String { "\(id) \(started.timeIntervalSince1970)" }
}
