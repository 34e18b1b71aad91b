#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// Shakes with every refusal (F015), by the offsets of ``RefusalShake``.
struct Shaking: ViewModifier, Animatable {
    /// How often it has shaken; fractions are in between.
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
