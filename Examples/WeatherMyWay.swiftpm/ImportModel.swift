import Foundation
import OAuth
import Observation
import Sequencing

/// An import of genetic data from 23andMe or Ancestry. The password is held during one request only.
@MainActor @Observable
final class ImportModel {
    enum Step {
        case credentials
        case question(ThirdPartyImport.SecurityQuestion)
        case link(ThirdPartyImport.AncestrySession)
        case asking
        case running
        case done([GeneticFile])
        case late
    }

    private(set) var step = Step.credentials
    private(set) var problem: String?
    var source = ThirdPartyImport.Source.twentyThreeAndMe
    var login = ""
    var password = ""
    var answer = ""

    private let genome: Sequencing

    init(_ genome: Sequencing) {
        self.genome = genome
    }

    /// Starts with the user's login at the third party.
    func start() async {
        let imports = ThirdPartyImport(genome)
        let given = Secret(password)
        password = ""
        await attempt(returningTo: .credentials) { [login, source, genome] in
            let credentials = try ThirdPartyImport.Credentials(login: login, password: given)
            let known = Set(try await genome.files().map(\.id))
            switch source {
            case .twentyThreeAndMe:
                switch try await imports.from23andMe(credentials) {
                case .question(let question): return (.question(question), nil)
                case .ended(let outcome): return (nil, (outcome, known))
                }
            case .ancestry:
                switch try await imports.authorizeAncestry(credentials) {
                case .linkMailed(let session): return (.link(session), nil)
                case .ended(let outcome): return (nil, (outcome, known))
                }
            }
        }
    }

    /// Goes on with the answer to the question, or with the link from the mail.
    func proceed() async {
        let imports = ThirdPartyImport(genome)
        let (before, text) = (step, answer)
        answer = ""
        await attempt(returningTo: before) { [genome] in
            let known = Set(try await genome.files().map(\.id))
            switch before {
            case .question(let question): return (nil, (try await imports.answer(text, to: question), known))
            case .link(let session): return (nil, (try await imports.download(text, in: session), known))
            default: return (before, nil)
            }
        }
    }

    private typealias Ended = (outcome: ThirdPartyImport.Outcome, known: Set<FileID>)

    private func attempt(
        returningTo before: Step, _ body: @Sendable () async throws -> (next: Step?, ended: Ended?)
    ) async {
        step = .asking
        problem = nil
        do {
            let (next, ended) = try await body()
            if let ended { await follow(ended, returningTo: before) } else { step = next ?? before }
        } catch {
            step = before
            problem = "\(error)"
        }
    }

    /// Waits until the new file is in the list.
    private func follow(_ ended: Ended, returningTo before: Step) async {
        let reason: String
        switch ended.outcome {
        case .started:
            step = .running
            let polling = Polling(firstInterval: .seconds(1), maximumInterval: .seconds(5), timeout: .seconds(600))
            do {
                let files = try await genome.newFiles(besides: ended.known, from: source, polling: polling)
                step = files.isEmpty ? .late : .done(files)
            } catch {
                step = .late
            }
            return
        case .badCredentials: reason = "\(source.rawValue) rejects the login or the password."
        case .badAnswer: reason = "23andMe rejects the answer. Start the import again."
        case .badURL: reason = "The link does not lead to a download. Copy it whole from the mail."
        case .serverError: reason = "The import failed at the service. Try again later."
        }
        step = .credentials
        problem = reason
    }
}
