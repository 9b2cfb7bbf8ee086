import IoTCore
package import NIOCore

extension ByteBuffer {
    /// Creates a buffer from hexadecimal text; spaces are ignored.
    package init(hex: String) {
        self.init(bytes: Hex.decode(hex.filter { !$0.isWhitespace }) ?? [])
    }

    package var hex: String { Hex.encode(readableBytesView) }
}
