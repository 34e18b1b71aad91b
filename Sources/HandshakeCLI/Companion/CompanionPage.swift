#if CommandLine
/// The files of the companion's page.
enum CompanionPage {
    struct File: Sendable {
        let path: String
        let type: String
        let content: [UInt8]
    }

    static let files = [
        File(path: "/", type: "text/html; charset=utf-8", content: PackageResources.companion_html),
        File(path: "/companion.css", type: "text/css; charset=utf-8", content: PackageResources.companion_css),
        File(path: "/companion.js", type: "text/javascript; charset=utf-8", content: PackageResources.companion_js),
    ]
}
#endif
