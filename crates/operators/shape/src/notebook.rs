//! Where it is written down how far the making of a shape has come.

use evenkeel_controller::{Context, Error, Key};
use kube::Api;
use kube::api::{DeleteParams, ObjectMeta, PostParams, Preconditions};
use tokio::sync::Mutex;

use crate::checkpoint::Checkpoint;
use crate::resource::{DeletionPolicy, Of, Shape, ShapeRef, ShapeRefSpec};
use crate::subject::Subject;

/// Where it is written down: in the status of the Shape, or in a ShapeRef of its own.
pub(crate) enum Notebook {
    Status(Box<StatusBook>),
    Ref(Box<RefBook>),
}

/// The status of a Shape as the place for its checkpoint.
pub(crate) struct StatusBook {
    cx: Context,
    shape: Mutex<Shape>,
    noted: Mutex<Option<Checkpoint>>,
}

/// A ShapeRef as the place for a checkpoint.
pub(crate) struct RefBook {
    cx: Context,
    of: Of,
    key: Key,
    on_delete: DeletionPolicy,
    known: Mutex<Option<ShapeRef>>,
}

impl Notebook {
    pub(crate) fn in_status(cx: Context, shape: Shape) -> Self {
        Self::Status(Box::new(StatusBook {
            cx,
            shape: Mutex::new(shape),
            noted: Mutex::default(),
        }))
    }

    pub(crate) fn in_ref(
        cx: Context,
        subject: &Subject,
        on_delete: DeletionPolicy,
        known: Option<ShapeRef>,
    ) -> Self {
        let of = Of {
            name: subject.key.name.clone(),
            uid: subject.uid.clone(),
        };
        Self::Ref(Box::new(RefBook {
            cx,
            of,
            key: subject.key.beside(&subject.uid),
            on_delete,
            known: Mutex::new(known),
        }))
    }

    /// What is written there now.
    pub(crate) async fn read(&self) -> Option<Checkpoint> {
        match self {
            Self::Status(book) => book.read().await,
            Self::Ref(book) => {
                let known = book.known.lock().await;
                known.as_ref().map(|known| known.spec.checkpoint.clone())
            }
        }
    }

    /// Writes it down, unless somebody changed the page since it was read.
    pub(crate) async fn write(&self, checkpoint: Checkpoint) -> Result<(), Error> {
        match self {
            Self::Status(book) => book.write(checkpoint).await,
            Self::Ref(book) => book.write(checkpoint).await,
        }
    }

    /// Keeps it in mind; it is written with the next report, or at once where there is none.
    pub(crate) async fn note(&self, checkpoint: Checkpoint) -> Result<(), Error> {
        match self {
            Self::Status(book) => {
                *book.noted.lock().await = Some(checkpoint);
                Ok(())
            }
            Self::Ref(book) => book.write(checkpoint).await,
        }
    }

    /// Tears the page out. The status goes with its Shape.
    pub(crate) async fn forget(&self) -> Result<(), Error> {
        match self {
            Self::Status(_) => Ok(()),
            Self::Ref(book) => book.remove().await,
        }
    }
}

impl StatusBook {
    async fn read(&self) -> Option<Checkpoint> {
        let noted = self.noted.lock().await.clone();
        let shape = self.shape.lock().await;
        noted.or_else(|| shape.status.as_ref()?.checkpoint.clone())
    }

    async fn write(&self, checkpoint: Checkpoint) -> Result<(), Error> {
        let mut shape = self.shape.lock().await;
        let edit = |status: &mut crate::resource::ShapeStatus| status.checkpoint = Some(checkpoint);
        *shape = self.cx.set_status(&*shape, [], edit).await?;
        Ok(())
    }

    /// The Shape as it is now.
    pub(crate) async fn shape(&self) -> Shape {
        self.shape.lock().await.clone()
    }
}

impl RefBook {
    fn api(&self) -> Api<ShapeRef> {
        let namespace = self.key.namespace.as_deref().unwrap_or_default();
        Api::namespaced(self.cx.client().clone(), namespace)
    }

    async fn write(&self, checkpoint: Checkpoint) -> Result<(), Error> {
        let mut known = self.known.lock().await;
        let spec = ShapeRefSpec {
            shape: self.of.clone(),
            deletion_policy: self.on_delete,
            checkpoint,
        };
        if known.as_ref().is_some_and(|known| known.spec == spec) {
            return Ok(());
        }
        let metadata = known.as_ref().map(|known| known.metadata.clone());
        let page = ShapeRef {
            metadata: metadata.unwrap_or_else(|| self.new_metadata()),
            spec,
        };
        let written = self.send(&page, known.is_some()).await;
        let attempt = format!("write ShapeRef {}", self.key);
        *known = Some(written.map_err(Error::kube(attempt))?);
        Ok(())
    }

    fn new_metadata(&self) -> ObjectMeta {
        ObjectMeta {
            name: Some(self.key.name.clone()),
            namespace: self.key.namespace.clone(),
            ..ObjectMeta::default()
        }
    }

    async fn send(&self, page: &ShapeRef, exists: bool) -> kube::Result<ShapeRef> {
        let put = PostParams {
            field_manager: Some(self.cx.manager().to_owned()),
            ..PostParams::default()
        };
        match exists {
            true => self.api().replace(&self.key.name, &put, page).await,
            false => self.api().create(&put, page).await,
        }
    }

    async fn remove(&self) -> Result<(), Error> {
        let mut known = self.known.lock().await;
        let Some(page) = known.take() else {
            return Ok(());
        };
        let only_this = DeleteParams::default().preconditions(Preconditions {
            uid: page.metadata.uid,
            resource_version: None,
        });
        match self.api().delete(&self.key.name, &only_this).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(Error::kube(format!("remove ShapeRef {}", self.key))(error)),
        }
    }
}
