/// An answer of `DataSourceList` as text, put together by hand after the dossier's example: what is read must not be our
/// own writing.
///
/// Members stand in the service's order, absent ones are null, some names are escaped, some beyond ASCII, and every
/// hundredth has the name of the one before it.
struct FileListDocument {
    let bytes: [UInt8]

    init(count: Int) {
        var text = "[\n"
        for number in 1...count { text += (number == 1 ? "  " : ",\n  ") + Self.record(number) }
        bytes = Array((text + "\n]\n").utf8)
    }

    private static func record(_ number: Int) -> String {
        let named = number.isMultiple(of: 100) ? number - 1 : number
        let place = ["Zürich", "caf\\u00e9 \\\"Aurora\\\"", "cohort", "日本", "Ljubljana"][named % 5]
        let kind = named.isMultiple(of: 7) ? "FASTQ" : "VCF"
        return """
            { "Id": "\(600_000 + number)", "Name": "\(place)-\(named % 100).\(named).vcf.gz",
                "DateAdded": "\(2010 + number % 12)-\(two(number % 12 + 1))-\(two(number % 28 + 1))T\(two(number % 24)):30:00",
                "Ext": ".vcf.gz", "FileCategory": "Uploaded", "FileType": "\(kind)", "FileSubType": \
            \(number.isMultiple(of: 3) ? "\"Exome\"" : "null"), "FriendlyDesc1": null, "FriendlyDesc2": null,
                "Population": \(number.isMultiple(of: 4) ? "\"European\"" : "null"), "Sex": null }
            """
    }

    private static func two(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
