//! Exported programs predict what their models predict.

mod c;
mod javascript;
mod models;
mod onnx;
mod single;
