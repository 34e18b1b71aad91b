import Foundation
import IFTTTConnect
import OAuth
import Testing

@Suite("The rows of a query")
struct PagingTests {
    private let line = "POST /v2/connections/aB3dE5fG/queries/garden.zones/perform"

    /// Reads all rows: how many there were, and how it ended.
    private func read(_ ifttt: ScriptedIFTTT) async -> (rows: [String], error: ConnectError?) {
        var rows: [String] = []
        do {
            let all = ifttt.service().rows(
                of: ComponentSlug(service: "garden", name: "zones"), in: try ConnectionID(Balcony.id),
                RunOptions(for: "u"))
            for try await row in all {
                if case .value(.string(let name))? = row["name"] { rows.append(name) }
            }
            return (rows, nil)
        } catch {
            return (rows, error as? ConnectError)
        }
    }

    private func page(_ names: [String], next: String?) -> ScriptedIFTTT.Reply {
        let data = names.map { #"{"name":"\#($0)"}"# }.joined(separator: ",")
        return .json(#"{"type":"list","data":[\#(data)]"# + (next.map { #","next":{"cursor":"\#($0)"}}"# } ?? "}"))
    }

    @Test("where the next page is can be kept, and goes on from there, with numbers as the service spelled them")
    func kept() async throws {
        let first = #"{"type":"list","data":[],"next":{"cursor":"c2","fields":{"zone":"all","above":1.50}}}"#
        let ifttt = ScriptedIFTTT([line: [.json(first), page(["b"], next: nil)]])
        let zones = ComponentSlug(service: "garden", name: "zones")
        let next = try await ifttt.service().perform(zones, in: try ConnectionID(Balcony.id), RunOptions(for: "u")).next
        let stored = try JSONEncoder().encode(try #require(next))
        let request = QueryPage.Request(next: try JSONDecoder().decode(QueryPage.Next.self, from: stored))
        _ = try await ifttt.service().perform(
            zones, in: try ConnectionID(Balcony.id), RunOptions(for: "u"), page: request)
        #expect(ifttt.requests.last?.content == #"{"cursor":"c2","fields":{"above":1.50,"zone":"all"},"user_id":"u"}"#)
        let bare = try JSONDecoder().decode(QueryPage.Next.self, from: Data(#"{"cursor":"c"}"#.utf8))
        #expect(try JSONDecoder().decode(QueryPage.Next.self, from: JSONEncoder().encode(bare)) == bare)
    }

    @Test(
        "what was kept and is no place of a page any more is refused",
        arguments: [
            "{}", #"{"cursor":""}"#, #"{"cursor":7}"#, #"{"cursor":"c","fields":"[]"}"#,
            #"{"cursor":"c","fields":"{"}"#,
            #"{"cursor":"\#(String(repeating: "c", count: 2049))"}"#,
        ])
    func spoiled(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(QueryPage.Next.self, from: Data(text.utf8)) }
    }

    @Test("a circle of pages ends with an error, behind every row that was read")
    func circle() async {
        let ifttt = ScriptedIFTTT([line: [page(["a"], next: "1"), page(["b"], next: "2"), page(["c"], next: "1")]])
        let (rows, error) = await read(ifttt)
        #expect(rows == ["a", "b", "c"] && ifttt.requests.count == 3)
        guard case .malformed("perform", "next.cursor", _, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("pages without rows that never end are given up after a hundred; some between others are no matter")
    func empty() async {
        let few = (0..<99).map { page([], next: "\($0)") } + [page(["a"], next: "a")]
        let more = (100..<199).map { page([], next: "\($0)") } + [page(["b"], next: nil)]
        let (rows, none) = await read(ScriptedIFTTT([line: few + more]))
        #expect(rows == ["a", "b"] && none == nil)
        let endless = ScriptedIFTTT([line: (0..<101).map { page([], next: "\($0)") }])
        let (nothing, error) = await read(endless)
        #expect(nothing.isEmpty && endless.requests.count == 100)
        guard case .malformed("perform", "next", _, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a list that never ends is given up after ten thousand pages, with all of its rows")
    func endless() async {
        let ifttt = ScriptedIFTTT([line: (0..<10_001).map { page(["r"], next: "\($0)") }])
        let (rows, error) = await read(ifttt)
        #expect(rows.count == 10_000 && ifttt.requests.count == 10_000)
        #expect(error?.code == "malformed_answer")
    }

    @Test("after an error there is nothing more")
    func after() async throws {
        let ifttt = ScriptedIFTTT([line: [page(["a"], next: "1"), .status(404)]])
        var rows = ifttt.service().rows(
            of: ComponentSlug(service: "garden", name: "zones"), in: try ConnectionID(Balcony.id), RunOptions(for: "u")
        ).makeAsyncIterator()
        #expect(try await rows.next()?["name"] == .value(.string("a")))
        await #expect {
            _ = try await rows.next()
        } throws: {
            if case ConnectError.service(let problem) = $0 { problem.status == 404 } else { false }
        }
        #expect(try await rows.next() == nil && ifttt.requests.count == 2)
    }
}
