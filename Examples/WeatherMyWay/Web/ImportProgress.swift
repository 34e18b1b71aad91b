#if Server && Sandbox
import OAuth
import Sequencing

/// Where an import of genetic data stands. No password is ever part of it.
enum ImportProgress: Sendable {
    case none
    /// 23andMe asks a security question about a login.
    case question(ThirdPartyImport.SecurityQuestion, login: String)
    /// Ancestry has mailed a link to the owner of a login.
    case link(ThirdPartyImport.AncestrySession, login: String)
    /// The answer or the link is on its way.
    case asking
    /// Sequencing.com fetches the data.
    case running(ThirdPartyImport.Source)
    case done(GeneticFile)
    /// Several imports ran, and nothing tells which of these files is this one's.
    case oneOf([GeneticFile])
    /// The wait is over, and the file is not in the list yet.
    case late
    case failed(String)

    /// How the page is told.
    var json: JSONObject {
        switch self {
        case .none: ["state": .string("none")]
        case .question(let question, _): ["state": .string("question"), "text": .string(question.text)]
        case .link: ["state": .string("link")]
        case .asking: ["state": .string("asking")]
        case .running(let source): ["state": .string("running"), "source": .string(source.rawValue)]
        case .done(let file): ["state": .string("done"), "files": .array([.string(file.displayName)])]
        case .oneOf(let files):
            ["state": .string("one-of"), "files": .array(files.map { .string("\($0.displayName) (\($0.id))") })]
        case .late: ["state": .string("late")]
        case .failed(let reason): ["state": .string("failed"), "text": .string(reason)]
        }
    }

    /// Whether it waits for the user's answer or link.
    var isWaiting: Bool {
        switch self {
        case .question, .link: true
        default: false
        }
    }

    init(_ outcome: ThirdPartyImport.Outcome, from source: ThirdPartyImport.Source) {
        switch outcome {
        case .started: self = .running(source)
        case .badCredentials, .badAnswer, .badURL, .serverError: self = .failed(outcome.problem ?? "")
        }
    }
}

extension Visit {
    /// How the page is told of the imports.
    var imported: JSONObject {
        var told = importing.json
        if !arrived.isEmpty { told["also"] = .array(arrived.map { .string($0.displayName) }) }
        return told
    }
}

/// Imports for the app's users: starts them, and waits for their files.
struct Imports: Sendable {
    private let visitors: Visitors
    private let session: String
    /// The visit that sees the progress, not a later one of another user.
    private let visit: Visit

    init(_ visitors: Visitors, _ session: String) {
        self.visitors = visitors
        self.session = session
        visit = visitors.visit(session)
    }

    /// Starts an import with the user's login at the third party. The password is held during this request only.
    func start(
        _ source: ThirdPartyImport.Source, login: String, password: Secret, _ unfinished: UnfinishedImports,
        _ imports: ThirdPartyImport
    ) async throws {
        let credentials = try ThirdPartyImport.Credentials(login: login, password: password)
        switch source {
        case .twentyThreeAndMe:
            let (answer, started) = try await unfinished.noting(source, login: login) {
                try await imports.from23andMe(credentials)
            }
            switch answer {
            case .question(let question): begin(.question(question, login: login))
            case .ended(let outcome): follow((outcome, started), source, unfinished)
            }
        case .ancestry:
            switch try await imports.authorizeAncestry(credentials) {
            case .linkMailed(let link): begin(.link(link, login: login))
            case .ended(let outcome): begin(ImportProgress(outcome, from: source))
            }
        }
    }

    /// Goes on with the answer to the security question, or with the link from the mail.
    ///
    /// Only one tab does: it takes the question away. One that could not be answered comes back.
    func answer(_ text: String, _ unfinished: UnfinishedImports, _ imports: ThirdPartyImport) async throws {
        var (waiting, attempt) = (ImportProgress.none, 0)
        visitors.change(session) {
            guard $0.number == visit.number, $0.importing.isWaiting else { return }
            waiting = $0.importing
            $0.attempts += 1
            ($0.importing, attempt) = (.asking, $0.attempts)
        }
        do {
            switch waiting {
            case .question(let question, let login):
                let ended = try await unfinished.noting(.twentyThreeAndMe, login: login) {
                    try await imports.answer(text, to: question)
                }
                follow(ended, .twentyThreeAndMe, unfinished)
            case .link(let link, let login):
                let ended = try await unfinished.noting(.ancestry, login: login) {
                    try await imports.download(text, in: link)
                }
                follow(ended, .ancestry, unfinished)
            default: break
            }
        } catch {
            show(waiting, attempt)
            throw error
        }
    }

    /// Waits in the background until the import's own file is in the list.
    private func follow(
        _ ended: (outcome: ThirdPartyImport.Outcome, started: UnfinishedImport?), _ source: ThirdPartyImport.Source,
        _ unfinished: UnfinishedImports
    ) {
        let attempt = begin(ImportProgress(ended.outcome, from: source))
        guard let started = ended.started else { return }
        Task {
            let polling = Polling(firstInterval: .seconds(1), maximumInterval: .seconds(5), timeout: .seconds(600))
            do {
                switch try await unfinished.arrival(of: started, polling: polling) {
                case .file(let file): if !show(.done(file), attempt) { add(file) }
                case .oneOf(let files): show(.oneOf(files), attempt)
                case .late: show(.late, attempt)
                }
            } catch {
                show(.failed("The import runs, but its progress cannot be seen: \(error)"), attempt)
            }
        }
    }

    /// Shows what the service has answered last.
    @discardableResult
    private func begin(_ progress: ImportProgress) -> Int {
        var attempt = 0
        visitors.change(session) {
            guard $0.number == visit.number else { return }
            $0.attempts += 1
            ($0.importing, attempt) = (progress, $0.attempts)
        }
        return attempt
    }

    /// Shows how an attempt went on, unless a later one is shown.
    @discardableResult
    private func show(_ progress: ImportProgress, _ attempt: Int) -> Bool {
        var isLast = false
        visitors.change(session) {
            isLast = $0.number == visit.number && $0.attempts == attempt
            if isLast { $0.importing = progress }
        }
        return isLast
    }

    /// Tells of the file of an earlier import beside what is shown.
    private func add(_ file: GeneticFile) {
        visitors.change(session) { if $0.number == visit.number { $0.arrived.append(file) } }
    }
}
#endif
