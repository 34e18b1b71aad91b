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

    /// Why a chain gave no answer.
    var error: SequencingError? {
        if case .failure(let error) = melanoma { return error }
        if case .failure(let error) = vitaminD { return error }
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
