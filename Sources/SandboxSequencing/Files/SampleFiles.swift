#if Sandbox
import SandboxCore

/// The sample files, which every user sees (Sequencing dossier, section 9.3).
///
/// | id | persona | sex | Chain9 | Chain88 | special |
/// |---|---|---|---|---|---|
/// | 910001 | Ada | Female | Moderate | Yes | the file of the dossier's transcripts |
/// | 910002 | Charles | Male | Low | No | |
/// | 910003 | Grace | Female | High | Yes | |
/// | 910004 | Alan | Male | Normal | No | |
/// | 910005 | Katherine | Female | VeryHigh | No | |
/// | 910006 | Ramón & Søren | Male | SlightlyIncreased | Yes | quotes, ampersand and non-ASCII in the description |
/// | 910007 | Robin | null | Low | Yes | no sex |
/// | 910008 | Emmy | Female | NoData | Insufficient Data | no description; too little data |
/// | 910009 | `<b>Tim</b>` | Male | Normal | Yes | markup in the name and the description |
/// | 910010 | Sam | Unspecified | High | No | a sex that no client knows |
enum SampleFiles {
    static let all = [
        file(
            910_001, "sample-ada.vcf.gz", "2016-03-11T09:30:00",
            persona("Ada", "Enjoys long walks and longer proofs", "European", "Female"), .moderate, vitaminD: true),
        file(
            910_002, "sample-charles.vcf.gz", "2016-03-11T09:31:00",
            persona("Charles", "Keeps a very large engine in the shed", "European", "Male"), .low),
        file(
            910_003, "sample-grace.vcf.gz", "2016-03-12T10:00:00",
            persona("Grace", "Carries a nanosecond in her pocket", "European", "Female"), .high, vitaminD: true),
        file(
            910_004, "sample-alan.vcf.gz", "2016-03-12T10:05:00",
            persona("Alan", "Runs marathons and machines", "European", "Male"), .normal),
        file(
            910_005, "sample-katherine.vcf.gz", "2016-04-01T07:15:00",
            persona("Katherine", "Checks every orbit by hand", "African", "Female"), .veryHigh),
        file(
            910_006, "sample-ramon-soren.vcf.gz", "2016-04-02T08:00:00",
            persona("Ramón & Søren", "\"Siblings\" & café owners — they're 日本語 readers too", "Admixed", "Male"),
            .slightlyIncreased, vitaminD: true),
        file(
            910_007, "sample-robin.vcf.gz", "2016-05-20T12:00:00",
            persona("Robin", "Prefers not to say", "East Asian", nil), .low, vitaminD: true),
        file(
            910_008, "sample-emmy.vcf.gz", "2016-06-30T23:59:59", persona("Emmy", nil, "European", "Female"),
            .noData, coverage: .sparse),
        file(
            910_009, "sample-tim.vcf.gz", "2016-07-14T06:45:00",
            persona("<b>Tim</b>", "<script>alert(\"markup\")</script> is only text", "South Asian", "Male"), .normal,
            vitaminD: true),
        file(
            910_010, "sample-sam.vcf.gz", "2016-08-08T08:08:08",
            persona("Sam", "Answers in another word", "American", "Unspecified"), .high),
    ]

    private static func persona(_ name: String, _ line: String?, _ population: String, _ sex: String?)
        -> GeneticFile.Persona
    {
        GeneticFile.Persona(name: name, description: line, population: population, sex: sex)
    }

    private static func file(
        _ id: Int, _ name: String, _ added: String, _ persona: GeneticFile.Persona, _ risk: GeneticFile.Risk,
        vitaminD: Bool = false, coverage: GeneticFile.Coverage = .full
    ) -> GeneticFile {
        GeneticFile(
            id: id, name: name, category: .community, dateAdded: added, subType: "Genome", persona: persona,
            coverage: coverage, risk: risk, hasVitaminDIssue: vitaminD)
    }
}
#endif
