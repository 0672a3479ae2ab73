//! Values of R as plain data: threads make them, and R's thread turns them into objects of R.

use crate::model::Model;
use savvy::{
    IntoExtPtrSexp, ListSexp, OwnedIntegerSexp, OwnedListSexp, OwnedLogicalSexp, OwnedRawSexp, OwnedRealSexp, OwnedStringSexp,
    Sexp, savvy_err,
};

/// A value of R that no thread but R's may allocate.
pub(crate) enum Value {
    Null,
    Logicals(Vec<bool>),
    Integers(Vec<i32>),
    Reals(Vec<f64>),
    Texts(Vec<String>),
    Raw(Vec<u8>),
    /// An external pointer to a model.
    Model(Model),
    /// A named list.
    List(Vec<(&'static str, Value)>),
    /// A list without names.
    Items(Vec<Value>),
}

impl Value {
    /// Returns one number.
    pub(crate) fn real(value: f64) -> Self {
        Self::Reals(vec![value])
    }

    /// Returns row numbers, from 1. Matrices of R have fewer than 2³¹ rows.
    pub(crate) fn rows(rows: impl Iterator<Item = u64>) -> Self {
        Self::Integers(rows.map(|row| row as i32 + 1).collect())
    }

    /// Allocates the object of R.
    ///
    /// An object is only safe from R's garbage collector once it is an element of its list, so that
    /// each one is allocated and set before the next.
    pub(crate) fn into_sexp(self) -> savvy::Result<Sexp> {
        match self {
            Self::Null => savvy::NullSexp.into(),
            Self::Logicals(values) => OwnedLogicalSexp::try_from_slice(values)?.into(),
            Self::Integers(values) => OwnedIntegerSexp::try_from_slice(values)?.into(),
            Self::Reals(values) => OwnedRealSexp::try_from_slice(values)?.into(),
            Self::Texts(values) => OwnedStringSexp::try_from_slice(values)?.into(),
            Self::Raw(values) => OwnedRawSexp::try_from_slice(values)?.into(),
            Self::Model(model) => Ok(model.into_external_pointer()),
            Self::List(elements) => {
                let mut list = OwnedListSexp::new(elements.len(), true)?;
                for (at, (name, value)) in elements.into_iter().enumerate() {
                    list.set_name_and_value(at, name, value.into_sexp()?)?;
                }
                list.into()
            }
            Self::Items(values) => {
                let mut list = OwnedListSexp::new(values.len(), false)?;
                for (at, value) in values.into_iter().enumerate() {
                    list.set_value(at, value.into_sexp()?)?;
                }
                list.into()
            }
        }
    }
}

/// Returns an element of a list that R code made.
pub(crate) fn element<T: TryFrom<Sexp, Error = savvy::Error>>(list: &ListSexp, name: &str) -> savvy::Result<T> {
    let value = list.get(name).ok_or_else(|| savvy_err!("the element {name} is missing"))?;
    T::try_from(value).map_err(|error| error.with_arg_name(name))
}
