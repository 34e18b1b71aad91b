#if Sandbox
import SandboxCore

/// What the app chains answer: pure functions of the file (Sequencing dossier, sections 5.8 and 9.3).
enum ChainAnswers {
    /// Chain9: one of seven levels.
    static func melanoma(_ file: GeneticFile) -> [ResultProperty] {
        [.text("RiskDescription", file.coverage == .full ? file.risk.rawValue : "NoData")]
    }

    /// Chain88: whether there is an issue with vitamin D.
    static func vitaminD(_ file: GeneticFile) -> [ResultProperty] {
        [.text("result", file.coverage == .full ? (file.hasVitaminDIssue ? "Yes" : "No") : "Insufficient Data")]
    }

    /// Chain85: three grades.
    static func graded(_ file: GeneticFile) -> [ResultProperty] {
        guard file.coverage == .full else { return [.text("Level", "NoData")] }
        switch file.risk {
        case .low: return [.text("Level", "Low")]
        case .normal, .slightlyIncreased: return [.text("Level", "Average")]
        case .moderate, .high, .veryHigh: return [.text("Level", "Elevated")]
        case .noData: return [.text("Level", "NoData")]
        }
    }

    /// Chain87: the whole documented answer set, by the id's remainder of 4.
    static func documentedWords(_ file: GeneticFile) -> [ResultProperty] {
        let words = ["Yes", "No", "Insufficient Data", "Error"]
        return [.text("result", file.coverage == .full ? words[file.id % words.count] : "Insufficient Data")]
    }

    /// The chains without an answer of their own: yes when file id and chain number are both even or both odd.
    static func plain(_ number: Int) -> @Sendable (GeneticFile) -> [ResultProperty] {
        { file in
            let word = (file.id + number).isMultiple(of: 2) ? "Yes" : "No"
            return [.text("result", file.coverage == .full ? word : "Insufficient Data")]
        }
    }

    /// Chain90: one property of each of the ten types, with titles where a type likes one.
    static func everyType(_ file: GeneticFile) -> [ResultProperty] {
        var table = ResultProperty("Table", "ViewTable", #"[["Gene","Copies"],["VDR","2"],["MC1R","1"]]"#)
        table.title = "Genes"
        table.subTitle = "two rows"
        table.subType = "Simple"
        var chart = ResultProperty("Chart", "Chart", #"{"labels":["low","high"],"values":[1,3]}"#)
        chart.title = "Risk & age"
        chart.description = "Made up, \"as everything here\""
        chart.subType = "Bar"
        return [
            .text("Text", "Summary of file \(file.id)"),
            ResultProperty("Html", "HtmlText", "<p>Summary of <b>file \(file.id)</b> &amp; more</p>"),
            ResultProperty("Image", "ImageUrl", "https://reports.example.test/\(file.id).png"),
            ResultProperty("Video", "VideoUrl", "https://reports.example.test/\(file.id).mp4"),
            ResultProperty("Page", "HTML5", "<!doctype html><title>File \(file.id)</title><p>A page.</p>"),
            ResultProperty("Report", "Pdf", String(ReportFiles.documentID(of: file))), table, chart,
            ResultProperty("Data", "DataFile", String(ReportFiles.dataID(of: file))),
            ResultProperty(
                "Drawing", "SVG",
                #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><circle r="1"/></svg>"#),
        ]
    }

    /// Chain91: a level and a report file.
    static func document(_ file: GeneticFile) -> [ResultProperty] {
        melanoma(file) + [ResultProperty("Report", "Pdf", String(ReportFiles.documentID(of: file)))]
    }

    /// Chain911: types in other letter case, an unknown type, a null value, and a name that comes twice.
    static func oddTypes(_ file: GeneticFile) -> [ResultProperty] {
        [
            ResultProperty("Lower", "plaintext", "lower case type"), ResultProperty("Upper", "PLAINTEXT", "Upper"),
            ResultProperty("Document", "pdf", String(ReportFiles.documentID(of: file))),
            ResultProperty("Future", "Hologram", "a type of tomorrow"), ResultProperty("Nothing", "PlainText", nil),
            .text("Twice", "first"), .text("Twice", "second"),
        ]
    }

    /// Chain930: a report file of 200 MiB.
    static func largeDocument(_ file: GeneticFile) -> [ResultProperty] {
        [ResultProperty("Report", "Pdf", String(ReportFiles.generatedID(bytes: 200 << 20)))]
    }
}
#endif
