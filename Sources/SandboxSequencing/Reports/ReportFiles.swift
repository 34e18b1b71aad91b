#if Sandbox
import SandboxCore

/// The ids of report files: pure functions of what they hold (Sequencing dossier, section 5.7).
///
/// | id | content |
/// |---|---|
/// | 550000000 + a file's id | a small PDF about that file |
/// | 560000000 + a file's id | a small table of comma-separated values about that file |
/// | 1000000000 + a size in KiB, at most 1 GiB | exactly so many KiB, made while they are sent |
enum ReportFiles {
    private static let documents = 550_000_000
    private static let data = 560_000_000
    private static let generated = 1_000_000_000
    private static let largestInKiB = 1 << 20

    /// What an id stands for.
    enum Content: Equatable {
        case document(fileID: Int)
        case data(fileID: Int)
        case generated(bytes: Int)
    }

    static func documentID(of file: GeneticFile) -> Int { documents + file.id }
    static func dataID(of file: GeneticFile) -> Int { data + file.id }
    static func generatedID(bytes: Int) -> Int { generated + (bytes >> 10) }

    /// What an id stands for; nil when it is none of ours.
    static func content(_ id: Int) -> Content? {
        switch id {
        case documents..<data: .document(fileID: id - documents)
        case data..<(data + 10_000_000): .data(fileID: id - data)
        case generated...(generated + largestInKiB): .generated(bytes: (id - generated) << 10)
        default: nil
        }
    }
}
#endif
