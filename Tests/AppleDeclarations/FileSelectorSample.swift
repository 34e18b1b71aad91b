import FileSelector
import Handshake
import Sequencing
import SwiftUI

/// The code of the articles about the file selector, compiled; `CodeTests` compares.
struct FileSelectorSample: View {
    let model: FileSelectorModel
    let registration: RegistrationModel
    let copying: CopyingModel
    @State private var isChoosing = false
    @State private var isRegistering = false
    @State private var isCopying = false
    @State private var choice: RememberedChoice?

    var body: some View {
        Button("Choose a file") { isChoosing = true }
            .sheet(isPresented: $isChoosing) {
                FileSelector(model, onClose: { isChoosing = false }) { file in
                    isChoosing = false
                    choice = RememberedChoice(file)
                }
            }
            .sheet(isPresented: $isRegistering) {
                RegistrationSheet(registration) { isRegistering = false }
            }
            .sheet(isPresented: $isCopying) {
                CopyingSheet(copying) { isCopying = false }
            }
    }
}
