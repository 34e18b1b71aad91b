import Handshake
import Sequencing

/// What two app chains find in a genetic file, asked in one request.
struct Genes: Sendable {
    let melanoma: Result<MelanomaRisk, SequencingError>
    let vitaminD: Result<VitaminD, SequencingError>

    /// Asks both chains. A request that fails is the failure of both.
    ///
    /// - Throws: `CancellationError`, and ``SequencingError/account(_:)`` when the user has to sign in again.
    static func ask(_ genome: Sequencing, about file: FileID) async throws -> Genes {
        do {
            let (risk, vitaminD) = try await genome.answers(.melanoma, .vitaminD, on: file)
            return Genes(melanoma: risk, vitaminD: vitaminD)
        } catch let error as SequencingError {
            if case .account(.signInRequired) = error { throw error }
            return Genes(melanoma: .failure(error), vitaminD: .failure(error))
        }
    }

    /// Both answers, if both are known.
    var answers: (risk: MelanomaRisk, hasVitaminDIssue: Bool)? {
        guard case .success(let risk) = melanoma, risk != .noData, MelanomaRisk.known.contains(risk) else { return nil }
        switch vitaminD {
        case .success(.issue): return (risk, true)
        case .success(.noIssue): return (risk, false)
        default: return nil
        }
    }

    /// Why there is no answer of a chain.
    enum Failure: Sendable, Equatable, CustomStringConvertible {
        /// The chain could not be run.
        case run(SequencingError)
        /// The chain ran, and its answer is that it failed.
        case chain(AppCode)

        var description: String {
            switch self {
            case .run(let error): "\(error)"
            case .chain(let code):
                "The app chain “\(code.title ?? code.string)” failed at Sequencing.com. Try again in a few minutes."
            }
        }
    }

    /// Why a chain gave no answer. Another try may succeed.
    var error: Failure? {
        if case .failure(let error) = melanoma { return .run(error) }
        if case .failure(let error) = vitaminD { return .run(error) }
        if case .success(.other(let word)) = melanoma, YesOrNo(word) == .error { return .chain(AppCode(9)) }
        if case .success(.error) = vitaminD { return .chain(AppCode(88)) }
        return nil
    }

    /// Whether both chains answered, and the file does not have what the advice needs.
    var lacksData: Bool { answers == nil && error == nil }

    /// What one chain found, in words.
    struct Finding: Sendable, Hashable {
        let title: String
        let answer: String
    }

    /// What the chains found, in words.
    var words: [Finding] {
        func words<Answer: CustomStringConvertible>(_ result: Result<Answer, SequencingError>) -> String {
            switch result {
            case .success(let answer): answer.description
            case .failure: "No answer"
            }
        }
        return [
            Finding(title: AppCode(9).title ?? "", answer: words(melanoma)),
            Finding(title: AppCode(88).title ?? "", answer: words(vitaminD)),
        ]
    }
}
