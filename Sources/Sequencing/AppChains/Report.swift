import Handshake
public import OAuth

/// The report of an app chain about a file (dossier 5.6). Nothing is changed or dropped.
public struct Report: Sendable, Hashable {
    /// The job.
    public let job: JobID
    /// Whether the service reports success; true only for a literal true.
    public let succeeded: Bool
    /// When the job ended, in the service's notation.
    public let finished: String?
    /// The properties in the service's order. Names may repeat.
    public let properties: [ReportProperty]
    /// The whole job object.
    public let raw: JSONValue

    init(_ job: Job) {
        self.job = job.id
        succeeded = job.completedSuccessfully == true
        finished = job.finished
        properties = job.properties
        raw = job.raw
    }

    /// The first property with exactly this name.
    public subscript(name: String) -> ReportProperty? {
        properties.first { $0.name == name }
    }

    /// The text of the first plain-text property of this name.
    public func text(_ name: String) -> String? {
        if case .plainText(let text)? = self[name]?.value { text } else { nil }
    }

    /// The files of the report: documents, and files of data.
    public var files: [ReportFile] {
        properties.compactMap { property in
            switch property.value {
            case .pdf(let file), .dataFile(let file): file
            default: nil
            }
        }
    }
}

/// One named result of a report (dossier 5.2, `ResultProps`).
public struct ReportProperty: Sendable, Hashable {
    public let name: String
    public let title: String?
    public let subtitle: String?
    public let description: String?
    /// The subtype, for tables and the like.
    public let subtype: String?
    public fileprivate(set) var value: ReportValue

    init(_ element: JSONValue, job: JobID, answer: String, place: String) throws(SequencingError) {
        let members = try Members(element, answer: answer, place: place)
        name = try members.text("Name")
        title = members.lenientText("Title")
        subtitle = members.lenientText("SubTitle")
        description = members.lenientText("Description")
        subtype = members.lenientText("SubType")
        value = ReportValue(type: members.lenientText("Type") ?? "", value: members["Value"], job: job)
    }
}

extension [ReportProperty] {
    /// The properties of one report, whose documents have a name of their own each.
    var withNamedDocuments: Self {
        let documents = Set(compactMap { $0.value.document?.id })
        guard documents.count > 1 else { return self }
        return map { property in
            guard var file = property.value.document else { return property }
            var named = property
            file.isOnlyDocument = false
            named.value = .pdf(file)
            return named
        }
    }
}

extension ReportValue {
    /// The document, if it is one.
    fileprivate var document: ReportFile? {
        if case .pdf(let file) = self { file } else { nil }
    }
}

/// A result by its type: ten known ones, and unknown ones (dossier 5.2).
///
/// Markup and URLs are untrusted: show them where scripts do not run.
public enum ReportValue: Sendable, Hashable {
    case plainText(String)
    case htmlText(String)
    case imageURL(String)
    case videoURL(String)
    case html5(String)
    /// A downloadable file.
    case pdf(ReportFile)
    case viewTable(String)
    case chart(String)
    /// A downloadable file of data.
    case dataFile(ReportFile)
    case svg(String)
    /// An unknown type, or a value that does not fit its type.
    case unknown(type: String, value: JSONValue?)

    /// Parses a value by the service's type name, case-insensitively.
    init(type: String, value: JSONValue?, job: JobID) {
        let text: String? =
            switch value {
            case .string(let text): text
            case .number(let spelling): spelling
            default: nil
            }
        self = text.flatMap { Self(type: type.lowercased(), text: $0, job: job) } ?? .unknown(type: type, value: value)
    }

    private init?(type: String, text: String, job: JobID) {
        switch type {
        case "plaintext": self = .plainText(text)
        case "htmltext": self = .htmlText(text)
        case "imageurl": self = .imageURL(text)
        case "videourl": self = .videoURL(text)
        case "html5": self = .html5(text)
        case "pdf", "datafile":
            guard let number = JSONValue.string(text).lenientInteger else { return nil }
            let isDocument = type == "pdf"
            let file = ReportFile(
                id: ReportFileID(number), job: job, fileExtension: isDocument ? "pdf" : ReportFile.dataExtension)
            self = isDocument ? .pdf(file) : .dataFile(file)
        case "viewtable": self = .viewTable(text)
        case "chart": self = .chart(text)
        case "svg": self = .svg(text)
        default: return nil
        }
    }

    /// The value as text, whatever its type.
    public var text: String {
        switch self {
        case .plainText(let text), .htmlText(let text), .imageURL(let text), .videoURL(let text), .html5(let text),
            .viewTable(let text), .chart(let text), .svg(let text):
            text
        case .pdf(let file), .dataFile(let file): "\(file.id)"
        case .unknown(_, .string(let text)?): text
        case .unknown(_, let value?): value.json
        case .unknown(_, nil): ""
        }
    }

    /// The service's word for the type.
    public var type: String {
        switch self {
        case .plainText: "PlainText"
        case .htmlText: "HtmlText"
        case .imageURL: "ImageUrl"
        case .videoURL: "VideoUrl"
        case .html5: "HTML5"
        case .pdf: "Pdf"
        case .viewTable: "ViewTable"
        case .chart: "Chart"
        case .dataFile: "DataFile"
        case .svg: "SVG"
        case .unknown(let type, _): type
        }
    }
}
