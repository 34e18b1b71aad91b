#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// Shakes once with every refusal (F015): ``RefusalShake`` says where the pill is.
struct Shaking: ViewModifier, Animatable {
    /// How often it has shaken; between two whole numbers it does.
    var shakes: Double
    let unit: Double

    nonisolated var animatableData: Double {
        get { shakes }
        set { shakes = newValue }
    }

    func body(content: Content) -> some View {
        let shake = RefusalShake.standard
        content.offset(x: shake.offset(at: (shakes - shakes.rounded(.down)) * shake.duration) * unit)
    }
}
#endif
