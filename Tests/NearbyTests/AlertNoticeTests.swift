import Beacons
import Testing

@testable import Nearby

@Suite("What a notification has, on every platform")
struct AlertNoticeTests {
    private let ada = Person(name: "Ada Example", batch: "S1'14", page: "https://example.org/ada")

    @Test("a person has one notification; a later alert replaces it without a sound")
    func replaced() {
        let first = AlertNotice(Alert(person: person(759), known: nil, trust: .circle))
        let second = AlertNotice(
            Alert(person: person(759), known: ada, proximity: .near, trust: .circle, isUpdate: true))
        #expect(first.identifier == second.identifier && first.identifier != "person 36")
        #expect(AlertNotice.identifier(of: person(759)) == first.identifier)
        #expect(!first.isSilent && second.isSilent)
        #expect(second.title == "Ada Example is near" && second.body == "S1'14, a few metres away")
        let rough = Alert(person: person(759), known: ada, proximity: .far, isRough: true, trust: .circle)
        #expect(rough.body == "S1'14, farther away (rough)")
        #expect(second.page == "https://example.org/ada" && second.showsPhoto)
    }

    @Test("a crowd has a notification of its own, without face and page")
    func crowd() {
        let notice = AlertNotice(CrowdAlert(count: 23))
        #expect(notice.identifier != AlertNotice.identifier(of: person(23)))
        #expect(notice.title.hasPrefix("23 people") && !notice.showsPhoto && notice.page == nil)
    }

    @Test("a person who sends a plain number is shown without a photo")
    func unverified() {
        #expect(!AlertNotice(Alert(person: person(759), known: ada, trust: .unverified)).showsPhoto)
    }

    @Test("CI20: whom keys from a file recognise is announced with these words and without a photo")
    func file() {
        let notice = AlertNotice(Alert(person: person(759), known: ada, proximity: .near, trust: .file))
        #expect(notice.body == "S1'14, a few metres away, by keys from a file")
        #expect(!notice.showsPhoto)
    }

    @Test("CI48: the notification about a person who may be relayed has no photo", arguments: [Trust.circle, .paired])
    func relayed(trust: Trust) {
        #expect(AlertNotice(Alert(person: person(759), known: ada, trust: trust)).showsPhoto)
        #expect(!AlertNotice(Alert(person: person(759), known: ada, trust: trust, isRelayed: true)).showsPhoto)
    }

    @Test(
        "a page that is not of the web is not opened",
        arguments: ["file:///etc/passwd", "javascript:alert(1)", "http://example.org/ada", "tel:112", "ada", ""])
    func pages(page: String) {
        #expect(AlertNotice(Alert(person: person(759), known: Person(name: "Ada", page: page))).page == nil)
    }

    @Test("a name is cut and turns nothing around")
    func names() {
        let name = "\u{202E}Ada\u{1B}[2J" + String(repeating: "a", count: 10_000)
        let notice = AlertNotice(Alert(person: person(759), known: Person(name: name, batch: "\n\n\nS1")))
        #expect(notice.title.unicodeScalars.count <= 121)
        let scalars = (notice.title + notice.body).unicodeScalars
        #expect(!scalars.contains { $0.properties.isBidiControl || $0.properties.generalCategory == .control })
    }
}
