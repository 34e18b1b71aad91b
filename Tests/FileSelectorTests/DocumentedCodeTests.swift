import FileSelector
import Handshake
import OAuth
import Sequencing
import Testing

/// The code of the documentation, compiled. `CodeTests` compares it with the pages.
private enum DocumentedCode {
    struct Store { var choice: RememberedChoice? }

    static func load(_ genome: Sequencing, _ store: Store) async -> FileSelectorState {
        var selector = FileSelectorState(remembered: store.choice)
        do {
            selector.show(try await genome.fileList(), at: TimeSource.system.now())
        } catch {
            selector.fail(FileProblem(error))
        }
        return selector
    }

    static func choose(
        _ selector: inout FileSelectorState, _ id: FileID, _ store: inout Store,
        draw: (_ title: String, _ subtitle: String?, _ kind: String?, _ isSelected: Bool) -> Void
    ) {
        selector.choose(.sample)
        selector.search = "ada"
        for row in selector.rows { draw(row.title, row.subtitle, row.kind, row.isSelected) }
        selector.toggle(id)
        if selector.canContinue, let file = selector.selected { store.choice = RememberedChoice(file) }
    }

    @MainActor static func copy(
        _ askServer: @escaping @Sendable (ConnectRequest) async throws -> ConnectDelivery.Outcome
    ) -> CopyingModel {
        let copying = CopyingModel { request in try await askServer(request) }
        return copying
    }

    @MainActor static func model(_ account: Account, choice: RememberedChoice?) -> FileSelectorModel {
        let model = FileSelectorModel(Sequencing(account), remembered: choice)
        return model
    }
}

@Suite("The code of the pages about the file selector")
struct DocumentedCodeTests {
    @Test("F02: chooses a file, and remembers it")
    func chooses() throws {
        var selector = FileSelectorState()
        selector.show(FileShelf.own + FileShelf.samples, at: 0)
        var store = DocumentedCode.Store()
        var drawn: [String] = []
        DocumentedCode.choose(&selector, try #require(FileID("11")), &store) { title, _, _, _ in drawn.append(title) }
        #expect(drawn == ["Ada"] && store.choice?.displayName == "Ada - Walks")
    }
}
