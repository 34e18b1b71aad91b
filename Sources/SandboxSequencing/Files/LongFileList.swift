#if Sandbox
import SandboxCore

/// Five thousand own files, 400001 to 405000, each a pure function of its number.
///
/// In each ten, seven are uploaded, one is shared, one is from apps and one is from Altruist. Every hundredth has the name
/// of the one before it. Risks and vitamin D answers alternate.
enum LongFileList {
    static let count = 5_000
    static let all = (1...count).map(file)

    private static func file(_ number: Int) -> GeneticFile {
        let named = number.isMultiple(of: 100) ? number - 1 : number
        let cohort = ["aurora", "borealis", "cygnus", "draco", "eridanus"][named % 5]
        let ending = named.isMultiple(of: 7) ? ".fastq.gz" : ".vcf.gz"
        let risks = GeneticFile.Risk.allCases.dropLast()
        return GeneticFile(
            id: 400_000 + number, name: "\(cohort)-\(padded(named, 4))\(ending)", category: category(number),
            dateAdded: date(number), type: named.isMultiple(of: 7) ? "FASTQ" : "VCF",
            subType: number.isMultiple(of: 3) ? "Exome" : nil,
            coverage: named.isMultiple(of: 7) ? .unsupported : .full, risk: risks[number % risks.count],
            hasVitaminDIssue: number.isMultiple(of: 2))
    }

    private static func category(_ number: Int) -> GeneticFile.Category {
        switch number % 10 {
        case 7: .sharedToMe
        case 8: .fromApps
        case 9: .allWithAltruist
        default: .uploaded
        }
    }

    private static func date(_ number: Int) -> String {
        let day = number / 24
        return "\(2010 + day / 336 % 10)-\(padded(day / 28 % 12 + 1, 2))-\(padded(day % 28 + 1, 2))"
            + "T\(padded(number % 24, 2)):\(padded(number % 60, 2)):00"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
#endif
