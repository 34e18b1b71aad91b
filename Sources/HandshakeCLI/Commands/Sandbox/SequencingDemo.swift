#if CommandLine
import Foundation
import Handshake
import OAuth
import Sequencing

/// The end of the demo: one of the user's genetic files, and what two app chains find in it.
struct DemoGenes {
    let file: GeneticFile
    let risk: Result<MelanomaRisk, SequencingError>
    let vitaminD: Result<VitaminD, SequencingError>

    /// Runs both chains in one request.
    ///
    /// - Parameter asks: whether a person at the terminal chooses the file; otherwise it is the first sample file.
    static func read(_ genome: Sequencing, asks: Bool) async throws -> DemoGenes {
        try await SequencingFailure.reported {
            let files = try await genome.files()
            guard let first = files.first(where: \.isSample) else {
                throw CommandError(
                    status: .defect, code: "sandbox",
                    message: "The sandbox has no sample files. Report this defect.")
            }
            let file = asks && FileQuestion.canBeAsked ? try await FileQuestion.ask(files) : first
            let (risk, vitaminD) = try await genome.answers(.melanoma, .vitaminD, on: file.id)
            return DemoGenes(file: file, risk: risk, vitaminD: vitaminD)
        }
    }

    /// For people.
    var lines: [String] {
        Table.lines([
            ["FILE", file.displayName], ["Melanoma risk", risk.shown(\.word)],
            ["Vitamin D issue", vitaminD.shown(\.word)],
        ])
    }

    /// For programs; an answer that there is not is null.
    var members: [(String, JSONText)] {
        [
            ("file", SequencingFiles.json(file)), ("melanoma_risk", .optional((try? risk.get())?.word)),
            ("vitamin_d_issue", .optional((try? vitaminD.get())?.word)),
        ]
    }
}

extension Result where Failure == SequencingError {
    fileprivate func shown(_ text: (Success) -> String) -> String {
        switch self {
        case .success(let answer): text(answer)
        case .failure(let error): "\(error)"
        }
    }
}
#endif
