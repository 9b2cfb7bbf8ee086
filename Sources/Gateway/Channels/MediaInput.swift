package import NIOCore

/// A sound from a front end, as its bytes come: a file in any format that can be read from its beginning.
package struct MediaInput: Sendable {
    package let chunks: any AsyncSequence<ByteBuffer, any Error> & Sendable

    package init(chunks: any AsyncSequence<ByteBuffer, any Error> & Sendable) {
        self.chunks = chunks
    }
}
