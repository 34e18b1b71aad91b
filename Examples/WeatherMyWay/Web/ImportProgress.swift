#if Server && Sandbox
import OAuth
import Sequencing

/// Where an import of genetic data stands. No password is ever part of it.
enum ImportProgress: Sendable {
    case none
    /// 23andMe asks a security question.
    case question(ThirdPartyImport.SecurityQuestion)
    /// Ancestry has mailed a link.
    case link(ThirdPartyImport.AncestrySession)
    /// Sequencing.com fetches the data.
    case running(ThirdPartyImport.Source)
    case done([GeneticFile])
    /// The wait is over, and the file is not in the list yet.
    case late
    case failed(String)

    /// How the page is told.
    var json: JSONObject {
        switch self {
        case .none: ["state": .string("none")]
        case .question(let question): ["state": .string("question"), "text": .string(question.text)]
        case .link: ["state": .string("link")]
        case .running(let source): ["state": .string("running"), "source": .string(source.rawValue)]
        case .done(let files):
            ["state": .string("done"), "files": .array(files.map { .string($0.displayName) })]
        case .late: ["state": .string("late")]
        case .failed(let reason): ["state": .string("failed"), "text": .string(reason)]
        }
    }

    init(_ outcome: ThirdPartyImport.Outcome, from source: ThirdPartyImport.Source) {
        switch outcome {
        case .started: self = .running(source)
        case .badCredentials: self = .failed("\(source.rawValue) rejects the login or the password.")
        case .badAnswer: self = .failed("23andMe rejects the answer. Start the import again.")
        case .badURL: self = .failed("The link does not lead to a download. Copy it whole from the mail.")
        case .serverError: self = .failed("The import failed at the service. Try again later.")
        }
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
        _ source: ThirdPartyImport.Source, _ credentials: ThirdPartyImport.Credentials, _ genome: Sequencing
    ) async throws {
        let imports = ThirdPartyImport(genome)
        let known = try await self.known(genome)
        switch source {
        case .twentyThreeAndMe:
            switch try await imports.from23andMe(credentials) {
            case .question(let question): show(.question(question))
            case .ended(let outcome): follow(outcome, source, known, genome)
            }
        case .ancestry:
            switch try await imports.authorizeAncestry(credentials) {
            case .linkMailed(let link): show(.link(link))
            case .ended(let outcome): show(ImportProgress(outcome, from: source))
            }
        }
    }

    /// Goes on with the answer to the security question, or with the link from the mail.
    func answer(_ text: String, _ genome: Sequencing) async throws {
        let imports = ThirdPartyImport(genome)
        let known = try await self.known(genome)
        switch visit.importing {
        case .question(let question):
            follow(try await imports.answer(text, to: question), .twentyThreeAndMe, known, genome)
        case .link(let link):
            follow(try await imports.download(text, in: link), .ancestry, known, genome)
        default: break
        }
    }

    /// The files before an import, listed immediately before the call that starts it.
    private func known(_ genome: Sequencing) async throws -> Set<FileID> {
        Set(try await genome.files().map(\.id))
    }

    /// Waits in the background until the new file is in the list.
    private func follow(
        _ outcome: ThirdPartyImport.Outcome, _ source: ThirdPartyImport.Source, _ known: Set<FileID>,
        _ genome: Sequencing
    ) {
        let progress = ImportProgress(outcome, from: source)
        show(progress)
        guard case .running = progress else { return }
        Task {
            let polling = Polling(firstInterval: .seconds(1), maximumInterval: .seconds(5), timeout: .seconds(600))
            do {
                let files = try await genome.newFiles(besides: known, from: source, polling: polling)
                show(files.isEmpty ? .late : .done(files))
            } catch {
                show(.failed("The import runs, but its progress cannot be seen: \(error)"))
            }
        }
    }

    private func show(_ progress: ImportProgress) {
        visitors.change(session) { if $0.number == visit.number { $0.importing = progress } }
    }
}
#endif
