#if Sandbox
import SandboxCore

/// The users' own files (Sequencing dossier, section 9.3).
///
/// `ada@example.test` has files in all four own categories:
///
/// | id | name | category | Chain9 | Chain88 | special |
/// |---|---|---|---|---|---|
/// | 227001 | `ada_genome.vcf.gz` | Uploaded | High | Yes | |
/// | 227002 | `family.vcf.gz` | Uploaded | Low | No | same name as the next |
/// | 227003 | `family.vcf.gz` | Uploaded | VeryHigh | Yes | same name as the one before |
/// | 227004 | `error_invalid_exception.vcf` | Uploaded | Moderate | No | the three words of W21 |
/// | 227005 | `<img src=x onerror=alert(1)> & "double" 'single'.vcf` | Uploaded | Normal | Yes | markup and quotes |
/// | 227006 | `Ærøskøbing ゲノム & père.fastq.gz` | Uploaded | no success | no success | a kind that no chain supports |
/// | 227007 | `grace_exome.vcf.gz` | SharedToMe | Low | Yes | |
/// | 227008 | `brother's & sister's.vcf.gz` | SharedToMe | SlightlyIncreased | No | |
/// | 227009 | `weather-my-way.vcf.gz` | FromApps | Normal | No | |
/// | 227010 | `sparse_panel.txt` | FromApps | NoData | Insufficient Data | too little data |
/// | 227011 | `altruist-cohort.vcf.gz` | AllWithAltruist | High | No | |
///
/// `grace@example.test` has 228001 `grace_exome.vcf.gz` (Uploaded: Low, Yes), `charles@example.test` has none,
/// `herman@example.test` has the 5,000 of ``LongFileList``, and `rosalind@example.test` has 229001
/// `photo-51.vcf.gz` (FromLaboratory, a category that no client knows: Moderate, No).
enum OwnFiles {
    static func of(subject: String) -> [GeneticFile] {
        switch subject {
        case Fixtures.ada.subject: ada
        case Fixtures.grace.subject: grace
        case Fixtures.herman.subject: LongFileList.all
        case Fixtures.rosalind.subject: rosalind
        default: []
        }
    }

    private static let ada =
        [
            file(227_001, "ada_genome.vcf.gz", .uploaded, "2017-01-20T18:02:11", .high, vitaminD: true),
            file(227_002, "family.vcf.gz", .uploaded, "2017-01-21T08:00:00", .low),
            file(227_003, "family.vcf.gz", .uploaded, "2017-02-03T21:45:30", .veryHigh, vitaminD: true),
            file(227_004, "error_invalid_exception.vcf", .uploaded, "2017-02-04T10:10:10", .moderate),
            file(
                227_005, "<img src=x onerror=alert(1)> & \"double\" 'single'.vcf", .uploaded, "2017-02-05T00:00:00",
                .normal, vitaminD: true),
            GeneticFile(
                id: 227_006, name: "Ærøskøbing ゲノム & père.fastq.gz", category: .uploaded,
                dateAdded: "2017-02-06T13:37:00", type: "FASTQ", coverage: .unsupported, risk: .noData),
        ] + [
            file(227_007, "grace_exome.vcf.gz", .sharedToMe, "2017-03-01T09:00:00", .low, vitaminD: true),
            file(227_008, "brother's & sister's.vcf.gz", .sharedToMe, "2017-03-02T09:00:00", .slightlyIncreased),
            file(227_009, "weather-my-way.vcf.gz", .fromApps, "2017-03-03T09:00:00", .normal),
            GeneticFile(
                id: 227_010, name: "sparse_panel.txt", category: .fromApps, dateAdded: "2017-03-04T09:00:00",
                type: "TXT", coverage: .sparse, risk: .noData),
            file(227_011, "altruist-cohort.vcf.gz", .allWithAltruist, "2017-03-05T09:00:00", .high),
        ]

    private static let grace = [
        file(228_001, "grace_exome.vcf.gz", .uploaded, "2017-01-20T18:02:11", .low, vitaminD: true)
    ]

    private static let rosalind = [file(229_001, "photo-51.vcf.gz", .laboratory, "2017-04-01T09:00:00", .moderate)]

    private static func file(
        _ id: Int, _ name: String, _ category: GeneticFile.Category, _ added: String, _ risk: GeneticFile.Risk,
        vitaminD: Bool = false
    ) -> GeneticFile {
        GeneticFile(
            id: id, name: name, category: category, dateAdded: added, risk: risk, hasVitaminDIssue: vitaminD)
    }
}
#endif
